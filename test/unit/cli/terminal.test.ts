import { describe, expect, it } from "vitest";
import { parseDetachKey } from "../../../src/cli/terminal.ts";
import { TerminalModes, withoutQuestions } from "../../../src/cli/terminal-modes.ts";

const plain = "\x1b[0m\x1b(B";

function modesAfter(...pieces: string[]): TerminalModes {
  const modes = new TerminalModes();
  for (const piece of pieces) modes.read(Buffer.from(piece, "latin1"));
  return modes;
}

describe("TerminalModes", () => {
  it("undoes what an editor switched on, newest first", () => {
    const modes = modesAfter("\x1b[?1049h\x1b[?1h\x1b=\x1b[?25l\x1b[?2004h");
    expect(modes.isFullScreen).toBe(true);
    expect(modes.restore()).toBe(`\x1b[?2004l\x1b[?1l\x1b[?1049l\x1b[?25h\x1b>${plain}`);
  });

  it("touches nothing that was switched off again", () => {
    expect(modesAfter("\x1b[?1049h\x1b[?25l text \x1b[?25h\x1b[?1049l").restore()).toBe(plain);
    expect(modesAfter("\x1b[?1000;1006h", "\x1bc").restore()).toBe(plain);
  });

  it("sees a sequence that is cut anywhere", () => {
    const whole = "\x1b[?1000;1006h";
    for (let at = 1; at < whole.length; at++) {
      expect(modesAfter(whole.slice(0, at), whole.slice(at)).restore()).toBe(`\x1b[?1006l\x1b[?1000l${plain}`);
    }
  });

  it("takes keyboard modes back", () => {
    expect(modesAfter("\x1b[>1u\x1b[>4;2m").restore()).toBe(`\x1b[<1u\x1b[>4m${plain}`);
    expect(modesAfter("\x1b[>1u\x1b[<u\x1b[>4;2m\x1b[>4;0m").restore()).toBe(plain);
  });
});

describe("withoutQuestions", () => {
  it.each([
    "\x1b[c",
    "\x1b[>c",
    "\x1b[6n",
    "\x1b[?6n",
    "\x1b[?2026$p",
    "\x1b[>0q",
    "\x1b]11;?\x07",
    "\x1b]10;?\x1b\\",
    "\x1bP+q544e\x1b\\",
    "\x1b[18t",
    "\x1b[?u",
  ])("drops %j", (asked) =>
    expect(withoutQuestions(Buffer.from(`a${asked}b`, "latin1")).toString("latin1")).toBe("ab"),
  );

  it("leaves everything else byte for byte", () => {
    const bytes = Buffer.concat([
      Buffer.from("\x1b[31mé\x1b[5;6H\x1b]0;title\x07\x1b[22;0;0t", "utf8"),
      Buffer.from([0xff, 0x00, 0x9b]),
    ]);
    expect(withoutQuestions(bytes).equals(bytes)).toBe(true);
  });
});

describe("parseDetachKey", () => {
  it.each([
    ["ctrl-]", "ab\x1dcd", 2],
    ["ctrl-]", "ab", -1],
    ["ctrl-]", "x\x1b[27;5;93~", 1],
    ["ctrl-]", "\x1b[93;5u", 0],
    ["^A", "\x01", 0],
    ["ctrl-\\", "\x1c", 0],
    ["none", "\x1d", -1],
  ])("%s in %j is at %d", (key, input, at) => expect(parseDetachKey(key).find(Buffer.from(input, "latin1"))).toBe(at));

  it.each(["]", "ctrl-", "ctrl-ab", "alt-x"])("refuses %s", (key) =>
    expect(() => parseDetachKey(key)).toThrow(/ctrl-\]/),
  );
});
