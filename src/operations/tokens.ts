import { Fault, type TokenInfo, toChatId } from "../contract/index.ts";
import type { TokenBook } from "../tokens/index.ts";
import type { Rooms } from "./create.ts";
import type { Operations } from "./table.ts";
import { invalidField, toTime } from "./wire.ts";

type Names = "token.create" | "token.list" | "token.revoke" | "chat.end";
type Listed = ReturnType<TokenBook["list"]>[number];

/** Tokens, and the end of a chat. */
export function tokenOperations({ tokens, supervisor }: Rooms): Pick<Operations, Names> {
  return {
    "token.create"({ label, chat, read_only: readOnly, descendants, expires_in_ms: expiresInMs }) {
      const chatId = toChatId(chat);
      if (chat !== undefined && !chatId) throw invalidField("chat", "it is not the UUID of a chat");
      if (descendants && !chatId)
        throw invalidField("descendants", "it needs `chat`: the chat whose descendants are meant");
      const wanted = { label, chatId, readOnly: readOnly === true, descendants: descendants === true, expiresInMs };
      const { token, text } = tokens.create(wanted);
      return { ...toInfo({ token, isExpired: false }), token: text };
    },

    "token.list": () => ({ tokens: tokens.list().map(toInfo) }),

    "token.revoke"({ id }) {
      tokens.revoke(id);
      return { done: true };
    },

    async "chat.end"({ id }, caller) {
      const chat = toChatId(id);
      if (!chat) throw invalidField("id", "it is not the UUID of a chat");
      if (caller.chatId !== undefined && caller.chatId !== chat) {
        throw new Fault("auth/chat-mismatch", "A chat is ended by itself, or by a caller that is in none.");
      }
      return supervisor.endChat(chat);
    },
  };
}

function toInfo({ token, isExpired }: Listed): TokenInfo {
  return {
    id: token.id,
    ...(token.label !== undefined && { label: token.label }),
    ...(token.chatId !== undefined && { chat_id: token.chatId }),
    read_only: token.readOnly,
    descendants: token.descendants,
    created_at: toTime(token.createdAtMs),
    ...(token.expiresAtMs !== undefined && { expires_at: toTime(token.expiresAtMs) }),
    ...(isExpired && { expired: true as const }),
    ...(token.lastUsedAtMs !== undefined && { last_used_at: toTime(token.lastUsedAtMs) }),
  };
}
