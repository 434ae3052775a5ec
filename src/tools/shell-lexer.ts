// Reads a shell text as far as its tokens go: enough to know where quotes, substitutions, here-documents and comments end, and
// which token is the last. It follows the POSIX grammar's token rules (XCU 2.3) and bash where that goes further.
//
// One pass, no look-back. Unterminated constructs throw `Unfinished`: nothing is claimed about a text that is not whole.

class Unfinished extends Error {}

interface HereDocument {
  delimiter: string;
  stripTabs: boolean;
}

/** What one list of commands (the text itself, or the inside of parentheses) knows while it is read. */
interface Level {
  /** Here-documents whose bodies begin after the next newline. */
  pending: HereDocument[];
  /** `case` without its `esac`: a `)` ends a pattern. */
  cases: number;
  /** The next word is in command position: reserved words count. */
  isStart: boolean;
  last: { kind: "none" | "word" | "operator" | "newline" | "ampersand"; at: number };
}

/** Longest first. */
const operators = ["<<<", "&>>", "<<-", ";;&", "&&", "||", "|&", ";;", ";&", "<<", ">>", "<&", ">&", "<>", ">|", "&>"];
const redirections = new Set(["<<<", "&>>", ">>", "<&", ">&", "<>", ">|", "&>", "<", ">"]);
/** After these a command begins. */
const openers = new Set(["if", "then", "elif", "else", "while", "until", "do", "{", "!", "time", "coproc"]);
const blanks = /[ \t]/;
const metas = /[ \t\n|&;<>()]/;

export class ShellLexer {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  readTrailingAmpersand(): number | undefined {
    try {
      const { last, pending } = this.#readList(undefined);
      return last.kind === "ampersand" && pending.length === 0 ? last.at : undefined;
    } catch (error) {
      if (error instanceof Unfinished) return undefined;
      throw error;
    }
  }

  /** Reads up to `end` (consumed), or up to the end of the text. */
  #readList(end: ")" | "`" | undefined): Level {
    const level: Level = { pending: [], cases: 0, isStart: true, last: { kind: "none", at: 0 } };
    for (;;) {
      const c = this.#text.charAt(this.#at);
      if (c === "") {
        if (end !== undefined) throw new Unfinished();
        return level;
      }
      if (c === end && (c === "`" || level.cases === 0)) {
        this.#at++;
        return level;
      }
      if (blanks.test(c)) this.#at++;
      else if (this.#text.startsWith("\\\n", this.#at)) this.#at += 2;
      else if (c === "#") this.#skipComment(end);
      else if (c === "\n") this.#readNewline(level);
      else if (c === "(") this.#readParenthesis(level);
      else if (metas.test(c)) this.#readOperator(level);
      else this.#readCommandWord(level, end);
    }
  }

  #skipComment(end: ")" | "`" | undefined): void {
    while (this.#at < this.#text.length && this.#text[this.#at] !== "\n") {
      if (end === "`" && this.#text[this.#at] === "`") return;
      this.#at++;
    }
  }

  #readNewline(level: Level): void {
    this.#at++;
    for (const document of level.pending.splice(0)) this.#skipDocument(document);
    level.isStart = true;
    // A newline after a finished list adds nothing to it; after anything else it ends the command.
    if (level.last.kind === "word") level.last = { kind: "newline", at: this.#at - 1 };
  }

  #skipDocument({ delimiter, stripTabs }: HereDocument): void {
    while (this.#at < this.#text.length) {
      const newline = this.#text.indexOf("\n", this.#at);
      const stop = newline < 0 ? this.#text.length : newline;
      const line = this.#text.slice(this.#at, stop);
      this.#at = Math.min(this.#text.length, stop + 1);
      if ((stripTabs ? line.replace(/^\t+/, "") : line) === delimiter) return;
    }
    // Shells accept a document that the end of the text ends.
  }

  #readParenthesis(level: Level): void {
    const at = this.#at;
    if (this.#text.startsWith("((", at) && level.isStart && this.#skipArithmetic(at + 2)) {
      level.last = { kind: "word", at };
    } else {
      this.#at = at + 1;
      this.#readList(")");
      // `f()` is followed by its body; a pattern of `case` by a command.
      level.last = { kind: "word", at };
    }
    level.isStart = true;
  }

  #readOperator(level: Level): void {
    const at = this.#at;
    const operator = operators.find((o) => this.#text.startsWith(o, at)) ?? this.#text.charAt(at);
    if ((operator === "<" || operator === ">") && this.#text[at + 1] === "(") {
      this.#at = at + 2;
      this.#readList(")");
      level.last = { kind: "word", at };
      return;
    }
    this.#at += operator.length;
    if (operator === "<<" || operator === "<<-") {
      level.pending.push(this.#readDelimiter(operator === "<<-"));
      level.last = { kind: "word", at };
    } else if (redirections.has(operator)) {
      // `2>&1`: the target is a word, whatever it is.
      level.last = { kind: "operator", at };
    } else {
      const follows = level.last.kind === "word";
      level.last = { kind: operator === "&" && follows ? "ampersand" : "operator", at };
      level.isStart = true;
    }
  }

  #readDelimiter(stripTabs: boolean): HereDocument {
    while (blanks.test(this.#text.charAt(this.#at))) this.#at++;
    const from = this.#at;
    this.#readWord(undefined);
    if (this.#at === from) throw new Unfinished();
    const word = this.#text.slice(from, this.#at).replaceAll("\\\n", "");
    return { stripTabs, delimiter: word.replaceAll(/\\(.)|["']/g, "$1") };
  }

  #readCommandWord(level: Level, end: ")" | "`" | undefined): void {
    const at = this.#at;
    const wasRedirection = level.last.kind === "operator" && !level.isStart;
    this.#readWord(end);
    const word = this.#text.slice(at, this.#at);
    const { isStart } = level;
    level.last = { kind: "word", at };
    if (wasRedirection) return;
    if (isStart && word === "case") level.cases++;
    if (isStart && word === "esac" && level.cases > 0) level.cases--;
    // After `in` of a `case` comes a pattern, where `esac` may stand at once.
    level.isStart = (isStart && openers.has(word)) || (level.cases > 0 && word === "in");
  }

  /** One word with all its quotes and expansions. */
  #readWord(end: ")" | "`" | undefined): void {
    for (;;) {
      const c = this.#text.charAt(this.#at);
      if (c === "" || metas.test(c) || (c === "`" && end === "`")) return;
      this.#readPart(c);
    }
  }

  #readPart(c: string): void {
    if (c === "\\") this.#at = Math.min(this.#text.length, this.#at + 2);
    else if (c === "'") this.#skipPast("'", this.#at + 1);
    else if (c === '"') this.#readDoubleQuotes();
    else if (c === "`") this.#readBackquotes();
    else if (c === "$") this.#readDollar(false);
    else this.#at++;
  }

  #readDoubleQuotes(): void {
    this.#at++;
    for (;;) {
      const c = this.#text.charAt(this.#at);
      if (c === "") throw new Unfinished();
      if (c === '"') break;
      if (c === "\\") this.#at += 2;
      else if (c === "`") this.#readBackquotes();
      else if (c === "$") this.#readDollar(true);
      else this.#at++;
    }
    this.#at++;
  }

  /** Inside backquotes a backslash hides the next character, and nothing else matters for where they end. */
  #readBackquotes(): void {
    for (this.#at++; this.#text[this.#at] !== "`"; this.#at++) {
      if (this.#at >= this.#text.length) throw new Unfinished();
      if (this.#text[this.#at] === "\\") this.#at++;
    }
    this.#at++;
  }

  #readDollar(isQuoted: boolean): void {
    const at = this.#at;
    const next = this.#text.charAt(at + 1);
    if (this.#text.startsWith("((", at + 1) && this.#skipArithmetic(at + 3)) return;
    if (next === "(") {
      this.#at = at + 2;
      this.#readList(")");
    } else if (next === "{") this.#readBraces(isQuoted);
    else if (next === "'" && !isQuoted) this.#readAnsiQuotes();
    else this.#at = at + (next === "#" || next === "$" ? 2 : 1);
  }

  /** `${…}`: quotes and expansions inside count, so that a `}` in them does not end it. */
  #readBraces(isQuoted: boolean): void {
    for (this.#at += 2; this.#text[this.#at] !== "}"; ) {
      const c = this.#text.charAt(this.#at);
      if (c === "") throw new Unfinished();
      if (c === "'" && isQuoted) this.#at++;
      else this.#readPart(c);
    }
    this.#at++;
  }

  /** `$'it\'s'` */
  #readAnsiQuotes(): void {
    for (this.#at += 2; this.#text[this.#at] !== "'"; this.#at++) {
      if (this.#at >= this.#text.length) throw new Unfinished();
      if (this.#text[this.#at] === "\\") this.#at++;
    }
    this.#at++;
  }

  /** True, and past it, when what begins here is arithmetic that `))` ends; there `<<` is a shift and `&` an operator. */
  #skipArithmetic(from: number): boolean {
    let depth = 0;
    for (let at = from; at < this.#text.length; at++) {
      const c = this.#text[at];
      if (c === "\\") at++;
      else if (c === "(") depth++;
      else if (c === ")" && depth > 0) depth--;
      else if (c === ")") {
        if (this.#text[at + 1] !== ")") return false;
        this.#at = at + 2;
        return true;
      }
    }
    return false;
  }

  #skipPast(end: string, from: number): void {
    const at = this.#text.indexOf(end, from);
    if (at < 0) throw new Unfinished();
    this.#at = at + 1;
  }
}
