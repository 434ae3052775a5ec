/** Bytes of a log answer or an output event, as they were written. */
export function decodeData(chunk: { data: string; encoding: "utf-8" | "base64" }): Uint8Array {
  if (chunk.encoding === "utf-8") return new TextEncoder().encode(chunk.data);
  return Uint8Array.from(atob(chunk.data), (char) => char.charCodeAt(0));
}
