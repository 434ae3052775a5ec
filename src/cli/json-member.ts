/** Why a file cannot be edited by a program; the person gets the piece to paste. */
export class Unwritable extends Error {
  override readonly name = "Unwritable";
}

type Json = Record<string, unknown>;

/**
 * Sets one member, as deep as `path` goes, and leaves every other byte as it was. Objects on the way are made when they are missing.
 * Throws Unwritable for text that is not plain JSON (comments, trailing commas) or whose shape is another.
 */
export function setJsonMember(text: string, path: readonly string[], value: unknown): string {
  const bom = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const body = text.slice(bom.length);
  if (body.trim() === "") return `${bom}${JSON.stringify(nest(path, value), undefined, 2)}\n`;
  if (!isObject(parse(body))) throw new Unwritable("it holds no JSON object");
  const style = styleOf(body);
  let object = readObject(body, skipBlank(body, 0));
  for (const [depth, key] of path.entries()) {
    const rest = path.slice(depth + 1);
    const member = object.members.findLast((m) => m.key === key);
    if (!member) return bom + insert(body, { object, key, value: nest(rest, value), depth: depth + 1, style });
    if (rest.length === 0) return bom + replace(body, member, value, { depth: depth + 1, style });
    if (body[member.from] !== "{") throw new Unwritable(`"${path.slice(0, depth + 1).join(".")}" is no object`);
    object = readObject(body, member.from);
  }
  return text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Unwritable("it is not plain JSON (comments or trailing commas), which would be lost", { cause: error });
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight((inner, key) => ({ [key]: inner }), value);
}

interface Style {
  /** One step of indentation; empty for a file in one line. */
  readonly indent: string;
  readonly newline: string;
}

function styleOf(text: string): Style {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const found = /^\s*\{\r?\n([ \t]+)"/.exec(text)?.[1];
  return { indent: found ?? (text.trim().includes("\n") || text.trim() === "{}" ? "  " : ""), newline };
}

function format(value: unknown, depth: number, { indent, newline }: Style): string {
  const text = JSON.stringify(value, undefined, indent);
  return text.replaceAll("\n", newline + indent.repeat(depth));
}

interface Member {
  readonly key: string;
  /** Of the value. */
  readonly from: number;
  readonly to: number;
}

interface JsonObject {
  readonly members: Member[];
  /** Of the closing brace. */
  readonly end: number;
}

function replace(text: string, member: Member, value: unknown, at: { depth: number; style: Style }): string {
  if (JSON.stringify(JSON.parse(text.slice(member.from, member.to))) === JSON.stringify(value)) return text;
  return text.slice(0, member.from) + format(value, at.depth, at.style) + text.slice(member.to);
}

function insert(
  text: string,
  o: { object: JsonObject; key: string; value: unknown; depth: number; style: Style },
): string {
  const { indent, newline } = o.style;
  const entry = `${JSON.stringify(o.key)}:${indent ? " " : ""}${format(o.value, o.depth, o.style)}`;
  const last = o.object.members.at(-1);
  const start = indent ? newline + indent.repeat(o.depth) : "";
  if (last) return `${text.slice(0, last.to)},${start}${entry}${text.slice(last.to)}`;
  const open = text.lastIndexOf("{", o.object.end);
  const close = indent ? newline + indent.repeat(o.depth - 1) : "";
  return `${text.slice(0, open + 1)}${start}${entry}${close}${text.slice(o.object.end)}`;
}

// The text has been parsed, so the scanner below may trust its grammar.

function readObject(text: string, open: number): JsonObject {
  const members: Member[] = [];
  let at = skipBlank(text, open + 1);
  while (text[at] !== "}") {
    if (text[at] === ",") at = skipBlank(text, at + 1);
    const keyEnd = skipValue(text, at);
    const key = JSON.parse(text.slice(at, keyEnd)) as string;
    const from = skipBlank(text, skipBlank(text, keyEnd) + 1);
    const to = skipValue(text, from);
    members.push({ key, from, to });
    at = skipBlank(text, to);
  }
  return { members, end: at };
}

function skipBlank(text: string, from: number): number {
  let at = from;
  while (" \t\r\n".includes(text[at] ?? "x")) at++;
  return at;
}

/** The place after the value that begins here. */
function skipValue(text: string, from: number): number {
  const first = text[from];
  if (first === '"') return skipString(text, from);
  if (first !== "{" && first !== "[") {
    let at = from;
    while (!",}] \t\r\n".includes(text[at] ?? ",")) at++;
    return at;
  }
  let depth = 0;
  for (let at = from; ; at++) {
    const character = text[at];
    if (character === '"') at = skipString(text, at) - 1;
    else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return at + 1;
  }
}

function skipString(text: string, from: number): number {
  let at = from + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}
