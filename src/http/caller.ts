import { randomUUID } from "node:crypto";
import { ignore } from "../base/index.ts";
import { type Caller, type ChatId, Fault, type Grant, toChatId } from "../contract/index.ts";
import type { HeaderReader } from "./auth.ts";

/** More ancestors than any tree of chats has; each costs a row. */
const ANCESTORS_MOST = 64;

/** Who asks by their own words, before it is known what they may. */
export type Asker = Omit<Caller, keyof Grant>;

/** From the headers alone. Bad chat headers mean no chat, never an error. */
export function readAsker(header: HeaderReader, signal: AbortSignal): Asker {
  // A header sent twice arrives joined by commas; the first one counts.
  const chatId = toChatId(header("coder-chat-id")?.split(",", 1)[0]?.trim());
  return {
    requestId: sane(header("x-request-id"), /^[\w.:/+=-]{1,128}$/) ?? randomUUID(),
    chatId,
    ancestorChatIds: readAncestors(header("coder-ancestor-chat-ids")),
    traceparent: sane(header("traceparent"), /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/),
    strict: header("drover-strict") === "1",
    signal,
  };
}

/** With what the token gives. A token of a chat speaks for that chat only: it names it, or says nothing. */
export function toCaller(asker: Asker, grant: Grant): Caller {
  const { scope } = grant;
  if (scope.kind === "chat" && asker.chatId !== undefined && asker.chatId !== scope.chatId) {
    throw new Fault(
      "auth/chat-mismatch",
      "The Coder-Chat-Id header names another chat than this token is bound to. Leave it out, or use that chat's token.",
    );
  }
  const chatId = scope.kind === "chat" ? scope.chatId : asker.chatId;
  return { ...asker, ...grant, chatId, ancestorChatIds: chatId ? asker.ancestorChatIds : [] };
}

function sane(value: string | undefined, form: RegExp): string | undefined {
  return value !== undefined && form.test(value) ? value : undefined;
}

function readAncestors(text: string | undefined): ChatId[] {
  if (!text) return [];
  const entries = parse(text);
  if (!Array.isArray(entries) || !entries.every((entry) => entry === null || typeof entry === "string")) return [];
  const ids = entries.map(toChatId).filter((id) => id !== undefined);
  return [...new Set(ids)].slice(0, ANCESTORS_MOST);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    ignore(error, "ancestors are for logs and git only; bad JSON means none");
    return undefined;
  }
}
