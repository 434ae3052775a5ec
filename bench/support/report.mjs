/** Collects what the questions find and prints it: tables for people, or one JSON object a line. */
export class Report {
  #asJson;
  #question = "";
  #lines = [];
  failures = 0;

  constructor(asJson) {
    this.#asJson = asJson;
  }

  /** Everything that was printed, for RESULTS.md. */
  get text() {
    return this.#lines.join("\n");
  }

  open(question, words) {
    this.#question = question;
    this.say(`\n${question}: ${words}`);
  }

  facts(facts) {
    for (const [name, value] of Object.entries(facts)) this.say(`${name.padEnd(10)} ${value}`);
  }

  /** `rows` are arrays; the first names the columns. */
  table(rows) {
    const cells = rows.map((row) => row.map(formatCell));
    const widths = cells[0].map((_, column) => Math.max(...cells.map((row) => row[column].length)));
    for (const row of cells) {
      this.say(`  ${row.map((cell, i) => (i ? cell.padStart(widths[i]) : cell.padEnd(widths[i]))).join("  ")}`);
    }
  }

  /** One bound: `atMost` or `atLeast`. */
  verdict({ measure, value, unit, atMost, atLeast, ...more }) {
    const bound = atMost ?? atLeast;
    const holds = atMost === undefined ? value >= atLeast : value <= atMost;
    if (!holds) this.failures++;
    if (this.#asJson) {
      const sense = atMost === undefined ? "at least" : "at most";
      const rounded = Number(value.toPrecision(4));
      console.log(
        JSON.stringify({ question: this.#question, value: rounded, unit, bound, holds, sense, measure, ...more }),
      );
    }
    const sign = atMost === undefined ? "≥" : "≤";
    this.say(`  ${holds ? "holds " : "BROKEN"}  ${measure}: ${formatCell(value)} ${unit} (bound ${sign} ${bound})`);
  }

  error(question, error) {
    if (this.#asJson) console.log(JSON.stringify({ question, error: error.message }));
    this.say(`  ERROR   ${error.stack}`);
  }

  say(line) {
    this.#lines.push(line);
    if (!this.#asJson) console.log(line);
  }
}

function formatCell(value) {
  if (typeof value !== "number") return String(value ?? "");
  const size = Math.abs(value);
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : value.toFixed(2);
}
