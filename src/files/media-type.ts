import { posix } from "node:path";

const text = (kind: string) => `text/${kind}; charset=utf-8`;

const types: Readonly<Record<string, string>> = {
  avif: "image/avif",
  bmp: "image/bmp",
  css: text("css"),
  csv: text("csv"),
  gif: "image/gif",
  gz: "application/gzip",
  htm: text("html"),
  html: text("html"),
  ico: "image/vnd.microsoft.icon",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  js: text("javascript"),
  json: "application/json",
  log: text("plain"),
  md: text("markdown"),
  mjs: text("javascript"),
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  ogg: "audio/ogg",
  pdf: "application/pdf",
  png: "image/png",
  svg: "image/svg+xml",
  tar: "application/x-tar",
  tiff: "image/tiff",
  ttf: "font/ttf",
  txt: text("plain"),
  wasm: "application/wasm",
  wav: "audio/wav",
  webm: "video/webm",
  webp: "image/webp",
  woff: "font/woff",
  woff2: "font/woff2",
  xml: text("xml"),
  yaml: "application/yaml",
  yml: "application/yaml",
  zip: "application/zip",
};

/** What the name says about the content; nobody looks inside. */
export function mediaType(path: string): string {
  const extension = posix.extname(path).slice(1).toLowerCase();
  return (Object.hasOwn(types, extension) && types[extension]) || "application/octet-stream";
}
