/** One event of a stream; `id` is the last one seen, also when an earlier event carried it. */
export interface SseEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** Server-sent events from bytes in any chunking; characters and line ends may be split anywhere. */
export class SseParser {
  readonly #decoder = new TextDecoder();
  #line = "";
  #sawReturn = false;
  #event = "";
  #data: string[] = [];
  #id: string | undefined;

  /** The events that this chunk completes. An event that is cut off at the end of the stream is never one. */
  push(chunk: Uint8Array): SseEvent[] {
    const events: SseEvent[] = [];
    let text = this.#decoder.decode(chunk, { stream: true });
    if (text === "") return events;
    // The line feed of a pair whose carriage return ended the chunk before.
    if (this.#sawReturn && text.startsWith("\n")) text = text.slice(1);
    this.#sawReturn = text.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    const last = lines.pop() ?? "";
    for (const line of lines) {
      this.#take(this.#line + line, events);
      this.#line = "";
    }
    this.#line += last;
    return events;
  }

  #take(line: string, events: SseEvent[]): void {
    if (line === "") return this.#dispatch(events);
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id" && !value.includes("\0")) this.#id = value;
  }

  #dispatch(events: SseEvent[]): void {
    if (this.#data.length > 0)
      events.push({ event: this.#event || "message", data: this.#data.join("\n"), id: this.#id });
    this.#event = "";
    this.#data = [];
  }
}
