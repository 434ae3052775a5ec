import type { ChatId } from "./ids.ts";

/** What a caller can see: everything, or one chat, perhaps with the chats below it. */
export type Scope =
  | { readonly kind: "all" }
  | { readonly kind: "chat"; readonly chatId: ChatId; readonly descendants: boolean };

/** What a token gives to its holder. */
export interface Grant {
  readonly scope: Scope;
  /** May look and wait, and change nothing. */
  readonly readOnly: boolean;
  /** Absent for the home's own token and on the Unix socket. */
  readonly tokenId?: string | undefined;
}

/** Who asks: made once per request by a door, handed to every operation. */
export interface Caller extends Grant {
  readonly requestId: string;
  /** Of the token, or of the header; absent: no chat, so everything is visible. */
  readonly chatId?: ChatId | undefined;
  readonly ancestorChatIds: readonly ChatId[];
  /** W3C trace context, stored with what is started. */
  readonly traceparent?: string | undefined;
  /** Unknown fields are refused (`Drover-Strict: 1`). */
  readonly strict: boolean;
  /** Ends when the caller is gone. */
  readonly signal: AbortSignal;
}
