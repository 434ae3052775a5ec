import { stripVTControlCharacters } from "node:util";

/** Text of processes is never trusted with the terminal: no escapes, no controls, one line. */
export function oneLine(text: string): string {
  return stripVTControlCharacters(text)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}
