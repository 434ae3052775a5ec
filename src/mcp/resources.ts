import { type Resource, ResourceNotFoundError, type TextResourceContents } from "@modelcontextprotocol/server";
import { Fault, type ProcessSummary } from "../contract/index.ts";
import type { Invoke } from "./invoke.ts";
import { formatLogUri, LOG_URI_TEMPLATE, parseLogUri } from "./log-uri.ts";

/** Processes on one page of the list. */
const PAGE = 50;
/** Most of a log in one answer; a client may put all of it into a model's context. */
const READ_BYTES = 32_768;
const NAME_CHARACTERS = 80;

/** The logs of recent processes: those that run first. */
export async function listLogs(
  invoke: Invoke,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<{ resources: Resource[]; nextCursor?: string }> {
  const query = { limit: PAGE, ...(cursor !== undefined && { cursor }) };
  const { processes, next } = await invoke.call("process.list", query, { signal });
  return { resources: processes.map(toResource), ...(next !== undefined && { nextCursor: next }) };
}

export const logTemplates = [
  {
    uriTemplate: LOG_URI_TEMPLATE,
    name: "process log",
    title: "Output of a process",
    description: `What a process wrote, as text: its last ${READ_BYTES} bytes, or as many from byte \`from\` on.`,
    mimeType: "text/plain",
  },
];

/** One part of a log as text; when there is more, a last line tells the address of the next part. */
export async function readLog(invoke: Invoke, uri: string, signal: AbortSignal): Promise<TextResourceContents> {
  const { id, from } = parseLogUri(uri) ?? {};
  if (id === undefined) throw new ResourceNotFoundError(uri, `${uri} is no address of ours: ${LOG_URI_TEMPLATE}`);
  const range = from === undefined ? { tail: READ_BYTES } : { from, limit: READ_BYTES };
  const log = await found(uri, invoke.call("process.log", { id, ...range, view: "text" }, { signal }));
  const { data, end } = log;
  const hints = [
    ...(from === undefined && log.from > 0 ? [`the start: ${formatLogUri(id, 0)}`] : []),
    ...(log.next < end ? [`the next part: ${formatLogUri(id, log.next)}`] : []),
  ];
  if (hints.length === 0) return { uri, mimeType: "text/plain", text: data };
  const line = `[bytes ${log.from} to ${log.to} of ${end}; ${hints.join("; ")}]`;
  return { uri, mimeType: "text/plain", text: `${data}${data.endsWith("\n") || data === "" ? "" : "\n"}${line}` };
}

/** Where the log ends now; throws when there is none for this caller. */
export async function measureLog(
  invoke: Invoke,
  uri: string,
  signal: AbortSignal,
): Promise<{ id: string; end: number }> {
  const { id } = parseLogUri(uri) ?? {};
  if (id === undefined) throw new ResourceNotFoundError(uri, `${uri} is no address of ours: ${LOG_URI_TEMPLATE}`);
  const { end } = await found(uri, invoke.call("process.log", { id, tail: 0 }, { signal }));
  return { id, end };
}

async function found<T>(uri: string, answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Fault && error.code === "process/not-found")
      throw new ResourceNotFoundError(uri, error.message);
    throw error;
  }
}

function toResource(process: ProcessSummary): Resource {
  const { id, command, label, running, exit_code, signal, state, workdir, log_end } = process;
  const oneLine = command.replaceAll(/\s+/g, " ").trim();
  const outcome = running ? "running" : (signal ?? (exit_code === undefined ? state : `exit code ${exit_code}`));
  return {
    uri: formatLogUri(id),
    name: label ?? cut(oneLine),
    title: cut(oneLine),
    description: `${outcome}, ${log_end} bytes, in ${workdir}`,
    mimeType: "text/plain",
    size: log_end,
  };
}

function cut(text: string): string {
  return text.length > NAME_CHARACTERS ? `${text.slice(0, NAME_CHARACTERS - 1)}…` : text;
}
