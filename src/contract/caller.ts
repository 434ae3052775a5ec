import type { ChatId } from "./ids.ts";

/** Who asks: made once per request by a door, handed to every operation. */
export interface Caller {
  readonly requestId: string;
  /** Absent: no chat, so everything is visible. */
  readonly chatId?: ChatId | undefined;
  readonly ancestorChatIds: readonly ChatId[];
  /** W3C trace context, stored with what is started. */
  readonly traceparent?: string | undefined;
  /** Unknown fields are refused (`Drover-Strict: 1`). */
  readonly strict: boolean;
  /** Ends when the caller is gone. */
  readonly signal: AbortSignal;
}
