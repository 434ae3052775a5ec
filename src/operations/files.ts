import type { Caller } from "../contract/index.ts";
import { editFiles, listDirectory, openFile, readLines, resolvePath, writeFile } from "../files/index.ts";
import type { Rooms } from "./create.ts";
import type { Operations } from "./table.ts";

type Names = "file.list" | "file.resolve" | "file.read" | "file.read-lines" | "file.write" | "file.edit";

/** Files of the daemon's user. What a chat writes is told to the git watch. */
export function fileOperations({ paths }: Rooms): Pick<Operations, Names> {
  const tell = ({ chatId, ancestorChatIds }: Caller, path: string) => {
    if (chatId) paths?.add(chatId, ancestorChatIds, path);
  };
  return {
    "file.list": (request) => listDirectory(request),

    "file.resolve": async ({ path }) => ({ resolved_path: await resolvePath(path) }),

    "file.read": ({ path, ...range }) => openFile(path, range),

    "file.read-lines": (request, caller) => readLines(request, caller.signal),

    async "file.write"({ path }, caller, body) {
      const { bytes, created, note } = await writeFile(path, body, caller.signal);
      tell(caller, path);
      return { message: `Successfully wrote to "${path}"`, bytes, created, ...(note !== undefined && { note }) };
    },

    async "file.edit"({ files, include_diff: diff }, caller) {
      const edited = await editFiles({ files, diff, signal: caller.signal });
      for (const { path } of edited) tell(caller, path);
      return diff ? { files: edited.map(({ path, diff: text = "" }) => ({ path, diff: text })) } : {};
    },
  };
}
