import { describe, expect, test } from "vitest";
import type { Caller, ChatId, Scope } from "../../../src/contract/index.ts";
import {
  checkRight,
  isWithin,
  mayChange,
  mayEnd,
  mayRead,
  type Owned,
  rangeOf,
} from "../../../src/process/visibility.ts";
import { caller } from "../../support/home.ts";

const mine = "11111111-1111-4111-8111-111111111111" as ChatId;
const child = "22222222-2222-4222-8222-222222222222" as ChatId;
const stranger = "33333333-3333-4333-8333-333333333333" as ChatId;

const owned: Record<"own" | "below" | "above" | "nobodys", Owned & { id: string }> = {
  own: { id: "own", chat_id: mine },
  below: { id: "below", chat_id: child, ancestor_chat_ids: [stranger, mine] },
  above: { id: "above", chat_id: stranger, ancestor_chat_ids: [] },
  nobodys: { id: "nobodys" },
};

const bound = (descendants: boolean): Scope => ({ kind: "chat", chatId: mine, descendants });
const callers: Record<string, Caller> = {
  everybody: caller(),
  "everybody, reading": { ...caller(), readOnly: true },
  header: caller(mine),
  token: { ...caller(mine), scope: bound(false) },
  "token, reading": { ...caller(mine), scope: bound(false), readOnly: true },
  ancestor: { ...caller(mine), scope: bound(true) },
  "ancestor, reading": { ...caller(mine), scope: bound(true), readOnly: true },
};

// r: read, e: end (signal, stop), c: change (input, size, removal), l: shown in lists and events
const matrix: [who: keyof typeof callers, own: string, below: string, above: string, nobodys: string][] = [
  ["everybody", "lrec", "lrec", "lrec", "lrec"],
  ["everybody, reading", "lr", "lr", "lr", "lr"],
  ["header", "lrec", "", "", "rec"],
  ["token", "lrec", "", "", ""],
  ["token, reading", "lr", "", "", ""],
  ["ancestor", "lrec", "lre", "", ""],
  ["ancestor, reading", "lr", "lr", "", ""],
];

function rightsOf(who: Caller, what: Owned): string {
  const rights = {
    l: isWithin(rangeOf(who), what),
    r: mayRead(who, what),
    e: mayEnd(who, what),
    c: mayChange(who, what),
  };
  return Object.entries(rights)
    .filter(([, has]) => has)
    .map(([letter]) => letter)
    .join("");
}

describe("what a caller may do with a process", () => {
  test.each(matrix)("%s: own %j, below %j, another's %j, nobody's %j", (who, ...expected) => {
    const as = callers[who];
    if (!as) throw new Error("no such caller");
    expect(Object.values(owned).map((what) => rightsOf(as, what))).toEqual(expected);
  });

  test("a right that is missing is said by name, unless the process may not even be known", () => {
    const codeOf = (who: keyof typeof callers, what: keyof typeof owned, right: "read" | "end" | "change") => {
      try {
        checkRight(callers[who] ?? caller(), owned[what], right);
        return "allowed";
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(codeOf("token", "below", "read")).toBe("process/not-found");
    expect(codeOf("token, reading", "above", "change")).toBe("process/not-found");
    expect(codeOf("token, reading", "own", "end")).toBe("auth/read-only");
    expect(codeOf("ancestor", "below", "end")).toBe("allowed");
    expect(codeOf("ancestor", "below", "change")).toBe("auth/out-of-scope");
    expect(codeOf("ancestor, reading", "below", "change")).toBe("auth/read-only");
  });
});
