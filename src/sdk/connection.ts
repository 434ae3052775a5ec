import { createFetchTransport, type Transport } from "./transport.ts";

/** Where the daemon is and who asks. */
export interface ClientOptions {
  /** `http://127.0.0.1:7333` when neither this nor `socket` is given. */
  url?: string | undefined;
  /** Needed with `url`; `drover token` prints it. */
  token?: string | undefined;
  /** Path of the daemon's Unix socket; Node only, needs no token. */
  socket?: string | undefined;
  /** Only this chat's processes are listed, and started ones belong to it. */
  chatId?: string | undefined;
  ancestorChatIds?: readonly string[] | undefined;
  /** Misspelt fields are refused; on unless set to false. */
  strict?: boolean | undefined;
  /** Used instead of the runtime's own transport. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** What every call of a client shares. */
export interface Connection {
  readonly options: ClientOptions;
  readonly headers: Readonly<Record<string, string>>;
  /** For people: what could not be reached. */
  readonly where: string;
  readonly url: string;
  transport(): Promise<Transport>;
  close(): void;
}

export function openConnection(options: ClientOptions): Connection {
  const url = options.url ?? "http://127.0.0.1:7333";
  let transport: Promise<Transport> | undefined;
  return {
    options,
    headers: headersOf(options),
    where: options.socket ?? url,
    url,
    transport: () => (transport ??= chooseTransport(options, url)),
    close() {
      transport?.then((opened) => opened.close()).catch(() => undefined);
      transport = undefined;
    },
  };
}

/** Node's modules are loaded only where there is Node, and only when needed. */
async function chooseTransport(options: ClientOptions, url: string): Promise<Transport> {
  if (options.fetch) return createFetchTransport(url, options.fetch);
  if (options.socket === undefined && (!isNode() || url.startsWith("https:"))) {
    return createFetchTransport(url, globalThis.fetch.bind(globalThis));
  }
  const { createNodeTransport } = await import("./node-transport.ts");
  return createNodeTransport(options.socket === undefined ? { url } : { socket: options.socket });
}

export function isNode(): boolean {
  return typeof process !== "undefined" && typeof process.versions?.node === "string";
}

function headersOf(options: ClientOptions): Record<string, string> {
  const headers: Record<string, string> = {};
  if (options.strict !== false) headers["Drover-Strict"] = "1";
  if (options.token !== undefined) headers["Authorization"] = `Bearer ${options.token}`;
  if (options.chatId !== undefined) headers["Coder-Chat-Id"] = options.chatId;
  if (options.ancestorChatIds?.length) headers["Coder-Ancestor-Chat-Ids"] = JSON.stringify(options.ancestorChatIds);
  return headers;
}
