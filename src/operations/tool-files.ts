import type { ToolArguments, ToolResult } from "../contract/index.ts";
import { editFiles, listDirectory, readLines, writeText } from "../files/index.ts";
import type { ToolContext } from "./tool-context.ts";

/** Names in one answer; a model that needs more looks deeper. */
const ENTRIES = 1_000;
/** A longer diff is shown in part; the file is what counts. */
const DIFF_CHARACTERS = 16_384;

export async function readFile(
  { caller }: ToolContext,
  { path, offset, limit }: ToolArguments<"read_file">,
): Promise<ToolResult<"read_file">> {
  const asked = { path, ...(offset !== undefined && { offset }), ...(limit !== undefined && { limit }) };
  const answer = await readLines(asked, caller.signal);
  return answer.success ? answer : { success: false, error: answer.error ?? "The file cannot be read." };
}

export async function writeFile(
  context: ToolContext,
  { path, content }: ToolArguments<"write_file">,
): Promise<ToolResult<"write_file">> {
  const { bytes } = await writeText(path, content);
  tell(context, path);
  return { success: true, path, bytes };
}

export async function editFile(
  context: ToolContext,
  { path, edits }: ToolArguments<"edit_file">,
): Promise<ToolResult<"edit_file">> {
  const [edited] = await editFiles({ files: [{ path, edits }], diff: true, signal: context.caller.signal });
  tell(context, path);
  const diff = edited?.diff;
  if (diff === undefined) return { success: true, path };
  const rest = diff.length - DIFF_CHARACTERS;
  const shown = rest > 0 ? `${diff.slice(0, DIFF_CHARACTERS)}\n... [${rest} characters more]` : diff;
  return { success: true, path, diff: shown };
}

export async function listFiles(
  _: ToolContext,
  { path }: ToolArguments<"list_directory">,
): Promise<ToolResult<"list_directory">> {
  const { absolute_path_string, contents } = await listDirectory({ path });
  const entries = contents.slice(0, ENTRIES).map(({ name, is_dir }) => (is_dir ? `${name}/` : name));
  const omitted = contents.length - entries.length;
  return { success: true, path: absolute_path_string, entries, ...(omitted > 0 && { omitted }) };
}

/** What a chat changes is told to the git watch. */
function tell({ rooms, caller }: ToolContext, path: string): void {
  if (caller.chatId) rooms.paths?.add(caller.chatId, caller.ancestorChatIds, path);
}
