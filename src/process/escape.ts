/** An escape sequence that was read: where it ends, and what it asks when it is one that moves or erases. */
export interface Escape {
  end: number;
  /** Final character of a control sequence, "RI" for reverse index (`CSI M` is another thing); empty for everything that is only dropped. */
  final: string;
  /** First number, or -1 when none was given. */
  first: number;
}

const ESC = 0x1b;
/** A number above this means "to the border", whatever it says. */
const MOST = 100_000;

/**
 * Reads the escape sequence at `at` (ESC, or a C1 control such as U+009B). Linear: it never looks beyond what it consumes.
 * A control string (OSC, DCS, APC, PM, SOS) that nobody ends is over at the end of its line, so that it hides no further output.
 */
export function readEscape(text: string, at: number): Escape {
  const code = text.charCodeAt(at);
  if (code !== ESC) return readC1(text, at + 1, code);
  const next = text.charCodeAt(at + 1);
  if (Number.isNaN(next)) return dropped(at + 1);
  // ESC with 0x40..0x5f is the seven-bit form of the C1 control 0x40 higher.
  if (next >= 0x40 && next <= 0x5f) return readC1(text, at + 2, next + 0x40);
  let end = at + 1;
  while (isBetween(text.charCodeAt(end), 0x20, 0x2f)) end++;
  return dropped(isBetween(text.charCodeAt(end), 0x30, 0x7e) ? end + 1 : end);
}

function readC1(text: string, at: number, control: number): Escape {
  switch (control) {
    case 0x9b:
      return readControlSequence(text, at);
    case 0x90: // DCS
    case 0x98: // SOS
    case 0x9d: // OSC
    case 0x9e: // PM
    case 0x9f: // APC
      return dropped(endOfString(text, at));
    case 0x8d:
      return { end: at, final: "RI", first: -1 };
    default:
      return dropped(at);
  }
}

function readControlSequence(text: string, at: number): Escape {
  let end = at;
  let first = -1;
  let inFirst = true;
  let plain = true;
  for (; isBetween(text.charCodeAt(end), 0x30, 0x3f); end++) {
    const digit = text.charCodeAt(end) - 0x30;
    if (digit > 9) {
      inFirst = false;
      if (digit >= 12) plain = false; // `<=>?` mark private sequences
    } else if (inFirst) first = Math.min(MOST, Math.max(first, 0) * 10 + digit);
  }
  while (isBetween(text.charCodeAt(end), 0x20, 0x2f)) {
    plain = false;
    end++;
  }
  if (!isBetween(text.charCodeAt(end), 0x40, 0x7e)) return dropped(end);
  return plain ? { end: end + 1, final: text.charAt(end), first } : dropped(end + 1);
}

function endOfString(text: string, at: number): number {
  for (let end = at; end < text.length; end++) {
    const code = text.charCodeAt(end);
    if (code === 0x07 || code === 0x9c || code === 0x18 || code === 0x1a) return end + 1;
    if (code === ESC) return text.charAt(end + 1) === "\\" ? end + 2 : end;
    if (code === 0x0a) return end;
  }
  return text.length;
}

function dropped(end: number): Escape {
  return { end, final: "", first: -1 };
}

function isBetween(code: number, least: number, most: number): boolean {
  return code >= least && code <= most;
}
