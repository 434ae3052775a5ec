import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { findTrailingAmpersand, withoutTrailingAmpersand } from "../../../src/tools/index.ts";

/** Shell texts, each with what it is good for. The real shell says whether the last command of each is asynchronous. */
const texts = [
  "sleep 1",
  "sleep 1 &",
  "sleep 1&",
  "  sleep 1 &  ",
  "sleep 1 &\n",
  "sleep 1 &\n\n  \n",
  "sleep 1 & # in the background",
  "sleep 1 # not &",
  "echo a#b &",
  "echo $# &",
  "echo ${#x} &",
  "a & b",
  "a & b &",
  "a; b &",
  "a && b &",
  "a || b &",
  "a | b &",
  "a |& b",
  "a |& b &",
  "(x &)",
  "( x & )",
  "(x) &",
  "{ x & }",
  "{ x; } &",
  "nohup x &",
  "nohup x > log 2>&1 &",
  "x > log 2>&1",
  "x 2>&1&",
  "x &> log",
  "x &>> log &",
  "x >&2",
  "x >&- &",
  "x <&3",
  "echo '&'",
  "echo '&' &",
  'echo "&"',
  'echo "a &"',
  'echo "$(x &)"',
  'echo "$(echo ")" &)" &',
  "echo \\&",
  "echo \\\\&",
  "echo \\\\\\&",
  "echo $(x &)",
  "echo `x &`",
  "echo `x` &",
  "echo $((1 & 3))",
  "echo $((1 << 2)) &",
  "((a & b))",
  "((1 << 2)) &",
  "echo ${x:-&}",
  'echo "${x:-"&"}" &',
  "echo ${x:-'}'} &",
  "echo $'it\\'s &'",
  "echo $'it\\'s' &",
  "cat <<EOF\na &\nEOF",
  "cat <<EOF &\na\nEOF",
  "cat <<EOF &\na\nEOF\n",
  "cat <<'EOF'\n$(x &\nEOF\nb &",
  "cat <<-EOF\n\ta &\n\tEOF",
  "cat <<A <<B &\na\nA\nb &\nB",
  "cat <<<'a &'",
  "cat <<< a &",
  'cat <<"E F"\na &\nE F\nx &',
  "if true; then x & fi",
  "if true; then x; fi &",
  "while :; do x & done",
  "for i in 1 2; do x; done &",
  "for i in a b; do x & done; wait",
  "case x in a) y & ;; esac",
  "case x in a) y ;& b) z;; esac",
  "case x in a) y ;;& b) z;; esac &",
  "echo $(case x in a) y;; esac) &",
  "echo $(case x in (a) y &;; esac)",
  "f() { x & }; f",
  "f() { x; }; f &",
  "x \\\n&",
  "x & \\\n",
  "! x &",
  "time x &",
  "coproc x",
  "diff <(a &) <(b &)",
  "diff <(a) <(b) &",
  "x=1 y &",
  "a=(1 2); x &",
  "x & wait",
  "x & y | z",
  "[[ a && b ]] &",
  "[[ a && b ]]",
  "echo a & echo 'b &' # &",
  "x &&\ny &",
  "x &&",
  "x & &",
  "x ; &",
  "x\n&",
  "&",
  "echo 'open &",
  'echo "open &',
  "echo $(open &",
  "x &\r\n",
  "echo é & ",
  "eval 'x &'",
  'sh -c "x &"',
  "python3 -c 'print(1 & 2)' &",
  "echo \"`echo 'a &'`\" &",
];

/**
 * Bash parses the text as the body of a function and prints what it understood: the last command ends in ` &` exactly when it is
 * asynchronous. Bodies of here-documents are printed after it and are passed over.
 */
function shellSaysAsync(text: string): boolean {
  const { status, stdout } = spawnSync("bash", ["-c", `f() {\n${text}\n}\ndeclare -f f`], { encoding: "utf8" });
  if (status !== 0) return false;
  const commands: string[] = [];
  const open: string[] = [];
  for (const line of stdout.split("\n").slice(2)) {
    if (open.length > 0) {
      if (line.replace(/^\t+/, "") === open[0]) open.shift();
      continue;
    }
    for (const [, delimiter] of line.matchAll(/(?<!<)<<-?['"]?([A-Z]+(?: [A-Z]+)?)['"]?(?= |$)/g))
      open.push(delimiter ?? "");
    if (line.trim() !== "") commands.push(line);
  }
  return commands.at(-2)?.endsWith(" &") ?? false;
}

const hasBash = spawnSync("bash", ["-c", "true"]).status === 0;

describe.skipIf(!hasBash)("a trailing &", () => {
  test("there are at least 60 texts", () => expect(new Set(texts).size).toBeGreaterThanOrEqual(60));

  test.each(texts.map((text) => [JSON.stringify(text), text]))("%s is read as bash reads it", (_, text) => {
    expect(findTrailingAmpersand(text) !== undefined).toBe(shellSaysAsync(text));
  });

  test.each(texts.filter(shellSaysAsync).map((text) => [JSON.stringify(text), text]))(
    "%s without it is the same in the foreground",
    (_, text) => {
      const stripped = withoutTrailingAmpersand(text) ?? "";
      expect(shellSaysAsync(stripped)).toBe(false);
      const understood = (body: string) =>
        spawnSync("bash", ["-c", `f() {\n${body}\n}\ndeclare -f f`], { encoding: "utf8" })
          .stdout.replaceAll(/ &$/gm, "")
          .replaceAll(/ +$/gm, "");
      expect(understood(stripped)).toBe(understood(text));
      expect(understood(stripped)).not.toBe("");
    },
  );
});
