declare const brand: unique symbol;
type Branded<Kind extends string> = string & { readonly [brand]: Kind };

/** Lower-case UUID v4 of a supervised process. */
export type ProcessId = Branded<"process">;
/** Canonical lower-case UUID of a chat. */
export type ChatId = Branded<"chat">;
/** Made once per home; every record carries it. */
export type MachineId = Branded<"machine">;

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** A process id from text, or undefined when it is not a canonical UUID. */
export function toProcessId(text: string): ProcessId | undefined {
  return uuid.test(text) ? (text as ProcessId) : undefined;
}

/**
 * A chat id from a header, with the leniency of the original API: any case, `{…}`, `urn:uuid:…` or 32 hex digits.
 * The all-zero UUID and anything else mean no chat.
 */
export function toChatId(text: string | undefined | null): ChatId | undefined {
  if (!text) return undefined;
  const hex = text
    .toLowerCase()
    .replace(/^urn:uuid:/, "")
    .replace(/^\{(.*)\}$/, "$1");
  const canonical = /^[0-9a-f]{32}$/.test(hex)
    ? `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
    : hex;
  if (!uuid.test(canonical) || canonical === "00000000-0000-0000-0000-000000000000") return undefined;
  return canonical as ChatId;
}
