import { isUtf8 } from "node:buffer";

/** True when the bytes are whole, well-formed UTF-8. */
export function isValidUtf8(data: Uint8Array): boolean {
  return isUtf8(data);
}

/**
 * The largest cut ≤ `at` that does not split a character: bytes before it may be shown, at most three are kept back.
 * Bytes that cannot become a character are not kept back.
 */
export function lastBorder(data: Uint8Array, at: number = data.length): number {
  for (let back = 1; back <= 3 && back <= at; back++) {
    const byte = data[at - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return expectedLength(byte) > back ? at - back : at;
  }
  return at;
}

/** The smallest cut ≥ `at` that is not inside a character; what is skipped is at most three continuation bytes. */
export function firstBorder(data: Uint8Array, at = 0): number {
  for (let skip = 0; skip <= 3; skip++) {
    const byte = data[at + skip];
    if (byte === undefined || (byte & 0xc0) !== 0x80) return at + skip;
  }
  return at; // four in a row are no character's rest
}

/**
 * The byte offset of a UTF-16 index of the decoded text, exact for malformed bytes too, each run of which became one U+FFFD
 * the way the WHATWG decoder does it (a maximal prefix of a character is one replacement).
 */
export function byteOffset(data: Buffer, text: string, index: number): number {
  if (isUtf8(data)) return Buffer.byteLength(text.slice(0, index));
  let byte = 0;
  for (let unit = 0; unit < index && byte < data.length; ) {
    const { length, valid } = step(data, byte);
    unit += valid && length === 4 ? 2 : 1;
    byte += length;
  }
  return byte;
}

function expectedLength(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 1;
  return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

/** One character, or the malformed prefix that one U+FFFD stands for. */
function step(data: Uint8Array, at: number): { length: number; valid: boolean } {
  const lead = data[at] ?? 0;
  const want = expectedLength(lead);
  if (want === 1) return { length: 1, valid: lead < 0x80 };
  // Second bytes of E0, ED, F0 and F4 are narrower: no overlong forms, no surrogates, nothing above U+10FFFF.
  const least = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const most = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  for (let i = 1; i < want; i++) {
    const byte = data[at + i] ?? 0;
    const fits = i === 1 ? byte >= least && byte <= most : (byte & 0xc0) === 0x80;
    if (!fits) return { length: i, valid: false };
  }
  return { length: want, valid: true };
}
