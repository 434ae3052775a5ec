import { createHmac } from "node:crypto";
import type { ChatId, StartRequest } from "../contract/index.ts";

/** Keyed digest of a client token within its chat; the token itself is stored nowhere. */
export function digestToken(key: Uint8Array, chat: ChatId | undefined, token: string): string {
  return digest(key, `token\0${chat ?? ""}\0${token}`);
}

/** Keyed digest of everything a start asks for, so that two requests can be compared and neither be read back. */
export function digestRequest(key: Uint8Array, request: StartRequest): string {
  const { client_token: _, ...rest } = request;
  return digest(key, `request\0${canonical(rest)}`);
}

function digest(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text).digest("hex");
}

/** JSON with sorted keys and without absent ones: equal values, equal text. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const entries = Object.entries(value)
    .filter(([, v]) => v !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([k, v]) => `${JSON.stringify(k)}:${canonical(v)}`).join(",")}}`;
}
