import { Unwritable } from "./json-member.ts";

/** The keys that are ours in the table; each is written on a line of its own. */
export type TomlValues = Readonly<Record<string, string | readonly string[]>>;

/**
 * Sets keys of the table `[parent.name]` and leaves every other byte as it was: other keys of the table, its sub-tables and comments
 * too. A missing table is put at the end. Throws Unwritable when the server is written in another form.
 */
export function setTomlTable(text: string, [parent, name]: readonly [string, string], values: TomlValues): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const ours = formatTomlTable([parent, name], values).replaceAll("\n", newline);
  const lines = readLines(text);
  const header = lines.findIndex((line) => line.header === `${parent}.${name}`);
  if (header === -1) {
    refuseOtherForms(lines, parent, name);
    const gap =
      text === "" || text.endsWith(`${newline}${newline}`) ? "" : text.endsWith("\n") ? newline : newline.repeat(2);
    return `${text}${gap}${ours}`;
  }
  const next = lines.findIndex((line, index) => index > header && line.header !== undefined);
  const end = next === -1 ? lines.length : next;
  const body = lines.slice(header + 1, end);
  const kept = body.filter((line) => line.key === undefined || !Object.hasOwn(values, line.key));
  const own = ours.split(newline).slice(1).join(newline);
  if (join(body.filter((line) => !kept.includes(line))).trim() === own.trim()) return text;
  const head = join(lines.slice(0, header + 1));
  return `${head}${head.endsWith("\n") ? "" : newline}${own}${join(kept)}${join(lines.slice(end))}`;
}

/** The table as it is written into a file that does not have it. */
export function formatTomlTable([parent, name]: readonly [string, string], values: TomlValues): string {
  const lines = Object.entries(values).map(([key, value]) => `${key} = ${formatValue(value)}\n`);
  return `[${parent}.${name}]\n${lines.join("")}`;
}

function formatValue(value: string | readonly string[]): string {
  if (typeof value !== "string") return `[${value.map(formatValue).join(", ")}]`;
  // A basic string of TOML takes the escapes of JSON, but for DEL.
  return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
}

interface Line {
  readonly text: string;
  /** `a.b` for `[a.b]`; `[a.b]` for `[[a.b]]`. */
  readonly header?: string;
  /** Of the assignment that this line belongs to, also when it spans several. */
  readonly key?: string;
}

function join(lines: readonly Line[]): string {
  return lines.map((line) => line.text).join("");
}

/** Lines with their ends, each knowing what it is; strings and arrays that span lines are followed. */
function readLines(text: string): Line[] {
  const lines: Line[] = [];
  const state: State = { quote: "", depth: 0 };
  let key: string | undefined;
  for (const line of text.match(/[^\n]*\n|[^\n]+$/g) ?? []) {
    const isInside = state.quote !== "" || state.depth > 0;
    if (isInside) {
      follow(line, state);
      lines.push({ text: line, ...(key !== undefined && { key }) });
      continue;
    }
    const header = /^\s*\[(\[?)\s*([^[\]]+?)\s*\]\]?\s*(?:#.*)?$/.exec(line.trimEnd());
    if (header) {
      lines.push({ text: line, header: `${header[1] ? "[" : ""}${normalise(header[2] ?? "")}` });
      continue;
    }
    const assigned = /^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=/.exec(line);
    key = assigned ? normalise(assigned[1] ?? "") : undefined;
    if (assigned) follow(line.slice(assigned[0].length), state);
    lines.push({ text: line, ...(key !== undefined && { key }) });
  }
  return lines;
}

function normalise(path: string): string {
  return path
    .split(".")
    .map((part) => part.trim().replace(/^(["'])(.*)\1$/, "$2"))
    .join(".");
}

interface State {
  /** The quotes that are open over the end of the line: `"""` or `'''`. */
  quote: string;
  /** Brackets and braces that are. */
  depth: number;
}

function follow(line: string, state: State): void {
  for (let at = 0; at < line.length; at++) {
    if (state.quote !== "") {
      if (state.quote === '"""' && line[at] === "\\") at++;
      else if (line.startsWith(state.quote, at)) {
        at += 2;
        state.quote = "";
      }
      continue;
    }
    const character = line[at] ?? "";
    if (character === "#") return;
    if (line.startsWith('"""', at) || line.startsWith("'''", at)) {
      state.quote = line.slice(at, at + 3);
      at += 2;
    } else if (character === '"' || character === "'") at = endOfString(line, at);
    else if ("[{".includes(character)) state.depth++;
    else if ("]}".includes(character)) state.depth--;
  }
}

function endOfString(line: string, from: number): number {
  const quote = line[from];
  let at = from + 1;
  while (at < line.length && line[at] !== quote) at += quote === '"' && line[at] === "\\" ? 2 : 1;
  return at;
}

/** `mcp_servers = {…}`, `mcp_servers.drover = …`, `drover = …` below `[mcp_servers]`: a table beside them would be an error. */
function refuseOtherForms(lines: readonly Line[], parent: string, name: string): void {
  let table = "";
  for (const line of lines) {
    if (line.header !== undefined) table = line.header;
    const path = line.key === undefined ? undefined : table === "" ? line.key : `${table}.${line.key}`;
    const isOther = path === parent || path === `${parent}.${name}` || path?.startsWith(`${parent}.${name}.`);
    if (isOther && !table.startsWith(`${parent}.${name}.`)) {
      throw new Unwritable(`it sets ${path} in a form that cannot be changed safely`);
    }
  }
}
