import { onTestFinished } from "vitest";
import WebSocket from "ws";
import type { Answer, RealDaemon } from "./real-daemon.ts";

/** Messages of an event stream until it ends, the test hangs up, or enough came. */
export interface OpenStream {
  readonly status: number;
  readonly messages: { event: string; data: Record<string, unknown> }[];
  /** Resolves when the daemon ended it. */
  readonly ended: Promise<void>;
  close(): void;
}

/** Somebody with a token of their own. */
export class ChatCaller {
  readonly daemon: RealDaemon;
  readonly token: string;
  readonly tokenId: string;

  private constructor(daemon: RealDaemon, made: { token: string; id: string }) {
    this.daemon = daemon;
    this.token = made.token;
    this.tokenId = made.id;
  }

  static async create(daemon: RealDaemon, wanted: object): Promise<ChatCaller> {
    const { status, body } = await daemon.call("POST", "/api/v0/tokens", wanted);
    if (status !== 200) throw new Error(`no token: ${JSON.stringify(body)}`);
    return new ChatCaller(daemon, body);
  }

  call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.daemon.call(method, path, body, { authorization: `Bearer ${this.token}`, ...headers });
  }

  process(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer> {
    return this.call(method, `/api/v0/processes/${path}`, body, headers);
  }

  async started(body: object, headers?: Record<string, string>): Promise<string> {
    const answer = await this.process("POST", "start", body, headers);
    if (answer.status !== 200) throw new Error(`start answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body.id;
  }

  async stream(path: string): Promise<OpenStream> {
    const hangUp = new AbortController();
    onTestFinished(() => hangUp.abort());
    const response = await fetch(this.daemon.url + path, {
      headers: { authorization: `Bearer ${this.token}` },
      signal: hangUp.signal,
    });
    const messages: OpenStream["messages"] = [];
    const read = async () => {
      let text = "";
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk as Uint8Array, { stream: true });
        const whole = text.split("\n\n");
        text = whole.pop() ?? "";
        for (const message of whole) {
          const event = /^event: (.*)$/m.exec(message)?.[1];
          const data = /^data: (.*)$/m.exec(message)?.[1];
          if (event && data) messages.push({ event, data: JSON.parse(data) });
        }
      }
    };
    const ended = read().catch((error: unknown) => {
      if (!hangUp.signal.aborted) throw error;
    });
    return { status: response.status, messages, ended, close: () => hangUp.abort() };
  }

  /** One JSON-RPC request to `/mcp`. */
  mcp(method: string, params: object): Promise<Answer> {
    const body = { jsonrpc: "2.0", id: 1, method, params };
    return this.call("POST", "/mcp", body, {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
    });
  }

  /** What came of a WebSocket: refused with a status, or open. */
  attach(id: string): Promise<{ status: number } | WebSocket> {
    return this.socket(`/api/v0/processes/${id}/attach`);
  }

  socket(path: string): Promise<{ status: number } | WebSocket> {
    const url = this.daemon.url.replace("http", "ws") + path;
    return new Promise((done, fail) => {
      const socket = new WebSocket(url, { headers: { authorization: `Bearer ${this.token}` } });
      socket.on("unexpected-response", (_request, response) => {
        response.resume();
        done({ status: response.statusCode ?? 0 });
      });
      socket.on("open", () => done(socket));
      socket.on("error", fail);
    });
  }
}
