// Who may know of a process, and who may act on it: the one place that says so, for records and for events alike. The store
// narrows lists by the same range in SQL.
import { type Caller, Fault } from "../contract/index.ts";
import type { ChatRange } from "../store/index.ts";

/** Whose something is: a process by its meta, or an event. */
export interface Owned {
  readonly chat_id?: string | undefined;
  readonly ancestor_chat_ids?: readonly string[] | undefined;
}

/** The chats whose processes and events a caller is shown in lists; undefined: of every chat and of none. */
export function rangeOf({ scope, chatId }: Pick<Caller, "scope" | "chatId">): ChatRange | undefined {
  if (scope.kind === "chat") return { chat: scope.chatId, descendants: scope.descendants };
  return chatId && { chat: chatId, descendants: false };
}

export function isWithin(range: ChatRange | undefined, owned: Owned): boolean {
  if (range === undefined || owned.chat_id === range.chat) return true;
  return range.descendants && (owned.ancestor_chat_ids?.includes(range.chat) ?? false);
}

/** By id also what has no chat, as in the original API, unless the token is bound to a chat. */
export function mayRead(caller: Caller, owned: Owned): boolean {
  return isWithin(rangeOf(caller), owned) || (caller.scope.kind === "all" && owned.chat_id === undefined);
}

/** Signals and stops: what one may read one may end, unless the token may only read. */
export function mayEnd(caller: Caller, owned: Owned): boolean {
  return !caller.readOnly && mayRead(caller, owned);
}

/** Input, size, removal: of the token's own chat only. An ancestor watches and ends, and does not act in another's name. */
export function mayChange(caller: Caller, owned: Owned): boolean {
  return mayEnd(caller, owned) && (caller.scope.kind === "all" || owned.chat_id === caller.scope.chatId);
}

/** What is to be done with a process. */
export type Right = "read" | "end" | "change";

/** Faults unless the caller has the right; what may not even be read is simply not found. */
export function checkRight(caller: Caller, owned: Owned & { readonly id: string }, right: Right): void {
  if (!mayRead(caller, owned)) throw notFound(owned.id);
  if (right === "read" || (right === "end" ? mayEnd : mayChange)(caller, owned)) return;
  if (caller.readOnly) throw new Fault("auth/read-only", "This token may only read; this would change a process.");
  throw new Fault(
    "auth/out-of-scope",
    `Process "${owned.id}" belongs to a chat below this token's; it may be read, signalled and stopped, and no more.`,
  );
}

export function notFound(id: string): Fault {
  return new Fault("process/not-found", `Process "${id}" not found.`);
}
