import fc from "fast-check";
import { expect, test } from "vitest";
import type { GitChanges } from "../../../src/contract/index.ts";
import { DiffBudget, jsonBytes } from "../../../src/git/diff-budget.ts";
import { composeMessages, FRAME_BYTES } from "../../../src/git/message.ts";
import type { Snapshot } from "../../../src/git/repository.ts";
import { directoriesOf } from "../../../src/git/tree-watch.ts";
import { describe as describeFile } from "../../../src/git/untracked.ts";

function snapshotOf(root: string, bytes: number, scan = 1): Snapshot {
  const entry = { repo_root: root, branch: "main", unified_diff: "x".repeat(bytes) };
  return { entry, json: Buffer.from(JSON.stringify(entry)), scan };
}

const parse = (pieces: readonly Buffer[]) => JSON.parse(Buffer.concat([...pieces]).toString()) as GitChanges;

test("a heartbeat holds the time and nothing else", () => {
  const [message, ...rest] = composeMessages(0, [], 7);
  expect(rest).toEqual([]);
  expect(parse(message?.pieces ?? [])).toEqual({ type: "changes", scanned_at: "1970-01-01T00:00:00.000Z" });
  expect(message?.scan).toBe(7);
});

test("every repository comes once, and no frame is over the bound", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 3_900_000 }), { minLength: 1, maxLength: 6 }), (sizes) => {
      const snapshots = sizes.map((size, i) => snapshotOf(`/r${i}`, size, i));
      const messages = composeMessages(0, snapshots, 0);
      for (const { pieces, bytes } of messages) {
        expect(bytes).toBe(pieces.reduce((sum, piece) => sum + piece.length, 0));
        expect(bytes).toBeLessThan(FRAME_BYTES);
      }
      const roots = messages.flatMap(({ pieces }) => parse(pieces).repositories?.map((entry) => entry.repo_root) ?? []);
      expect(roots).toEqual(snapshots.map((snapshot) => snapshot.entry.repo_root));
    }),
    { numRuns: 20 },
  );
});

test("large pieces are shared, not copied", () => {
  const snapshot = snapshotOf("/r", 1_000);
  const [one] = composeMessages(0, [snapshot], 0);
  expect(one?.pieces[1]).toBe(snapshot.json);
});

test("a budget takes parts whole, counts them as JSON does, and lists what does not fit", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary", maxLength: 200 })), (parts) => {
      const budget = new DiffBudget(500);
      const taken = parts.filter((part, i) => budget.take(`f${i}`, part));
      expect(budget.text()).toBe(taken.join(""));
      expect(jsonBytes(budget.text())).toBeLessThanOrEqual(500 + parts.length * 12);
      expect(budget.omitted(1 << 20)).toHaveLength(parts.length - taken.length);
    }),
  );
});

test("names of what was left out are bounded too", () => {
  const budget = new DiffBudget(0);
  for (let i = 0; i < 100; i++) budget.omit(`name${i}`);
  expect(budget.omitted(100).length).toBeLessThan(15);
});

test("directories on the way to files", () => {
  expect([...directoriesOf("a\0b/c\0b/d/e\0b/d/f\0")].toSorted()).toEqual(["b", "b/d"]);
  expect([...directoriesOf("")]).toEqual([]);
});

test("a new file without a newline at its end says so", () => {
  expect(describeFile(Buffer.from("a\nb"), "x", "100644", "sha1")).toEqual({
    size: 3,
    additions: 2,
    text: "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..0a207c0\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n",
  });
});
