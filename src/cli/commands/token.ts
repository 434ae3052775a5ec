import type { Command } from "commander";
import { Fault, type TokenInfo, type TokenRequest } from "../../contract/index.ts";
import type { Client } from "../../sdk/index.ts";
import type { Act, Context } from "../command.ts";
import { formatDuration, parseDuration } from "../duration.ts";
import { shortId } from "../ids.ts";
import { oneLine } from "../one-line.ts";
import type { Output } from "../output.ts";
import { type Column, formatTable } from "../table.ts";

/** Shorter prefixes would match by accident. */
const PREFIX_LEAST = 4;

interface CreateOptions {
  chat?: string;
  readOnly?: boolean;
  descendants?: boolean;
  expires?: number;
  label?: string;
}

export function addToken(program: Command, act: Act): void {
  const token = program
    .command("token")
    .summary("print the home's token, or make others")
    .description(
      "Print the token of this home, for clients that speak HTTP (DROVER_TOKEN). The Unix socket needs none. Others can be made that see one chat only, or may only read.",
    )
    .action(act(print));
  token
    .command("create")
    .summary("make a token and print it, this once")
    .description("Make a token and print it. It cannot be shown again: only its digest is kept.")
    .option("--chat <id>", "bound to this chat: everything else is not there for it")
    .option("--descendants", "with --chat: may also read, signal and stop what chats below that one run")
    .option("--read-only", "may look and wait, and change nothing")
    .option("--expires <time>", "valid for this long, such as 30d (default: until it is revoked)", parseDuration)
    .option("--label <label>", "what it is for")
    .action(act(create));
  token
    .command("ls")
    .summary("list the tokens that were made")
    .description("List tokens, never their text.")
    .action(act(list));
  token
    .command("revoke")
    .summary("take tokens back")
    .description("Take tokens back. What they have open ends at once.")
    .argument("<id...>", "ids, prefixes or labels")
    .action(act(revoke));
}

async function print({ settings, output, connect }: Context): Promise<void> {
  const { readToken } = await import("../connection.ts");
  // The first daemon makes it.
  if (readToken(settings.home) === undefined) await connect();
  const text = readToken(settings.home);
  if (text === undefined) throw new Fault("daemon/home-unusable", `${settings.home}/token cannot be read.`);
  if (output.json) output.value({ token: text });
  else output.line(text);
}

async function create({ output, connect }: Context, options: CreateOptions): Promise<void> {
  const client = await connect();
  const request: TokenRequest = {
    ...(options.chat === undefined ? {} : { chat: options.chat }),
    ...(options.readOnly ? { read_only: true } : {}),
    ...(options.descendants ? { descendants: true } : {}),
    ...(options.expires === undefined ? {} : { expires_in_ms: options.expires }),
    ...(options.label === undefined ? {} : { label: options.label }),
  };
  const made = await client.tokens.create(request);
  if (output.json) return output.value(made);
  output.line(made.token);
  output.hint(
    `${shortId(made.id)}: ${describeScope(made)}. It is not shown again; drover token revoke ${shortId(made.id)}`,
  );
}

async function list({ output, connect }: Context): Promise<void> {
  const client = await connect();
  const answer = await client.tokens.list();
  if (output.json) return output.value(answer);
  if (answer.tokens.length === 0)
    return output.hint("None but the home's own. Make one: drover token create --chat ID");
  for (const line of await formatTable(columns(output), answer.tokens, output.width)) output.line(line);
}

async function revoke({ output, connect }: Context, _options: object, texts: string[]): Promise<void> {
  const client = await connect();
  for (const id of await chooseTokens(client, texts)) {
    await client.tokens.revoke(id);
    if (output.json) output.record({ id, revoked: true });
    else output.line(`${shortId(id)}  revoked`);
  }
}

/** All are found before the first is revoked. */
async function chooseTokens(client: Client, texts: readonly string[]): Promise<string[]> {
  const { tokens } = await client.tokens.list();
  return [...new Set(texts.map((text) => chooseToken(tokens, text).id))];
}

function chooseToken(tokens: readonly TokenInfo[], text: string): TokenInfo {
  const isPrefix = text.length >= PREFIX_LEAST;
  const labelled = tokens.filter((t) => t.label === text);
  const found = labelled.length > 0 ? labelled : tokens.filter((t) => isPrefix && t.id.startsWith(text.toLowerCase()));
  const [first, second] = found;
  const named = `"${oneLine(text)}"`;
  if (!first) throw new Fault("token/not-found", `no token has the id, prefix or label ${named}.`);
  if (!second) return first;
  const candidates = found.map((t) => `${t.id}  ${describeScope(t)}`).join("\n");
  throw new Fault("request/invalid", `${named} means several tokens; name one by its id.`, { detail: candidates });
}

function columns(output: Output): Column<TokenInfo>[] {
  const nowMs = Date.now();
  const ago = (time: string | undefined) => (time ? formatDuration(nowMs - Date.parse(time)) : "");
  return [
    { title: "ID", text: (t) => shortId(t.id) },
    { title: "SCOPE", text: describeScope },
    { title: "AGE", text: (t) => ago(t.created_at), right: true },
    { title: "USED", text: (t) => ago(t.last_used_at), right: true },
    {
      title: "EXPIRES",
      text: (t) => {
        if (t.expires_at === undefined) return "never";
        return t.expired ? "expired" : `in ${formatDuration(Date.parse(t.expires_at) - nowMs)}`;
      },
      style: (text, t) => (t.expired ? output.tone("warn", text) : text),
    },
    { title: "LABEL", text: (t) => t.label ?? "" },
  ];
}

function describeScope({ chat_id: chat, descendants, read_only: readOnly }: TokenInfo): string {
  const what = chat === undefined ? "all" : `chat ${shortId(chat)}${descendants ? " and below" : ""}`;
  return readOnly ? `${what}, read-only` : what;
}
