import type { Fault, Grant } from "../contract/index.ts";
import { shuttingDown } from "./answer.ts";
import type { TokenBook } from "./auth.ts";

interface Open {
  readonly tokenId: string | undefined;
  readonly end: (why: Fault) => void;
}

/** What is under way and must be told when it may not go on, because the daemon or its token ends: streams, sockets, long waits. */
export class OpenRequests {
  readonly #tokens: Pick<TokenBook, "refusal">;
  readonly #open = new Set<Open>();
  #isClosing = false;

  constructor(tokens: Pick<TokenBook, "refusal">) {
    this.#tokens = tokens;
  }

  /** Registers how to end one; returns how to forget it. What came too late is ended at once. */
  add({ tokenId }: Pick<Grant, "tokenId">, end: (why: Fault) => void): () => void {
    const why = this.#isClosing ? shuttingDown() : this.refusal({ tokenId });
    if (why) {
      queueMicrotask(() => end(why));
      return () => {};
    }
    const entry = { tokenId, end };
    this.#open.add(entry);
    return () => this.#open.delete(entry);
  }

  /** Why whoever was let in with this token may not go on. */
  refusal({ tokenId }: Pick<Grant, "tokenId">): Fault | undefined {
    return tokenId === undefined ? undefined : this.#tokens.refusal(tokenId);
  }

  endToken(tokenId: string, why: Fault): void {
    for (const entry of Array.from(this.#open)) if (entry.tokenId === tokenId) this.#end(entry, why);
  }

  endAll(): void {
    this.#isClosing = true;
    for (const entry of Array.from(this.#open)) this.#end(entry, shuttingDown());
  }

  #end(entry: Open, why: Fault): void {
    this.#open.delete(entry);
    entry.end(why);
  }
}
