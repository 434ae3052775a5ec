import { isAbsolute } from "node:path";
import { ignore } from "../base/index.ts";
import { type Caller, type ChatId, Fault, toChatId } from "../contract/index.ts";
import type { GitMessage, GitSession } from "../git/index.ts";
import type { Rooms } from "./create.ts";
import type { Operations, SseMessage } from "./table.ts";
import { invalidField } from "./wire.ts";

/** Repositories that chats work in. */
export function gitOperations({ git }: Rooms): Pick<Operations, "git.watch" | "git.status" | "git.stream"> {
  return {
    "git.watch"({ chat_id: chatId }, caller) {
      const session = git.watchChat(chatOf(chatId, caller), caller.signal);
      return {
        messages: session.messages(),
        refresh: () =>
          void session.refresh().catch((error: unknown) => ignore(error, "scans report their own failures")),
      };
    },

    "git.status": ({ path }, caller) => git.status(toPath(path), boundTo(caller)),

    async "git.stream"({ chat_id: chatId, path }, caller) {
      if (path !== undefined && chatId !== undefined) throw invalidField("path", "it cannot stand beside `chat_id`");
      const session =
        path === undefined
          ? git.watchChat(chatOf(chatId, caller), caller.signal)
          : await git.watchPath(toPath(path), boundTo(caller), caller.signal);
      return toEvents(session);
    },
  };
}

async function* toEvents(session: GitSession): AsyncGenerator<SseMessage, void, undefined> {
  for await (const message of session.messages()) yield toEvent(message);
}

function toEvent({ pieces, scan }: GitMessage): SseMessage {
  return { event: "changes", id: String(scan), data: undefined, json: Buffer.concat([...pieces]).toString() };
}

/** A chat id that is none means no chat and silence, as in the original. Whoever speaks for a chat watches that one only. */
function chatOf(asked: string | undefined, caller: Caller): ChatId | undefined {
  const own = boundTo(caller) ?? caller.chatId;
  if (asked === undefined) return own;
  const chat = toChatId(asked);
  if (own === undefined || chat === undefined || chat === own) return chat;
  throw new Fault("auth/chat-mismatch", "`chat_id` names another chat than this request speaks for.");
}

function boundTo({ scope }: Caller): ChatId | undefined {
  return scope.kind === "chat" ? scope.chatId : undefined;
}

function toPath(path: string): string {
  if (!isAbsolute(path) || path.includes("\0")) throw invalidField("path", "it must be an absolute path");
  return path;
}
