// A bare HTTP/1.1 client: one kept connection, one request at a time, nothing between the caller and the socket but the parse
// of one answer. `fetch` costs more than what is measured here.
import net from "node:net";

export class HttpClient {
  #address;
  #head;
  #socket;
  #received = Buffer.alloc(0);
  #pending;

  /** `daemon` is anything with `url` and `token`. */
  static async connect(daemon) {
    const client = new HttpClient(daemon);
    await new Promise((resolve, reject) => client.#open().once("connect", resolve).once("error", reject));
    return client;
  }

  constructor(daemon) {
    const { hostname, port, host } = new URL(daemon.url);
    this.#address = { host: hostname, port: Number(port) };
    this.#head = `host: ${host}\r\nauthorization: Bearer ${daemon.token}\r\n`;
  }

  get = (path) => this.#call(`GET ${path} HTTP/1.1\r\n${this.#head}\r\n`);
  delete = (path) => this.#call(`DELETE ${path} HTTP/1.1\r\n${this.#head}\r\n`);

  post(path, value) {
    const body = JSON.stringify(value);
    const length = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
    return this.#call(`POST ${path} HTTP/1.1\r\n${this.#head}${length}\r\n${body}`);
  }

  close() {
    this.#pending = undefined;
    this.#socket.destroy();
  }

  #call(text) {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      // A server closes a connection that was quiet for some seconds, while other variants had their turn.
      (this.#socket.writable ? this.#socket : this.#open()).write(text);
    });
  }

  #open() {
    const socket = net.connect(this.#address);
    socket.setNoDelay(true);
    socket.on("data", (data) => this.#take(data));
    socket.on("error", (error) => this.#pending?.reject(error));
    socket.on(
      "close",
      () => socket === this.#socket && this.#pending?.reject(new Error("the daemon closed the connection")),
    );
    this.#socket = socket;
    return socket;
  }

  #take(data) {
    this.#received = this.#received.length ? Buffer.concat([this.#received, data]) : data;
    const answer = parseAnswer(this.#received);
    if (!answer) return;
    this.#received = Buffer.alloc(0);
    const pending = this.#pending;
    this.#pending = undefined;
    if (answer.status < 300) pending?.resolve(JSON.parse(answer.body));
    else pending?.reject(new Error(`HTTP ${answer.status}: ${answer.body}`));
  }
}

function parseAnswer(received) {
  const end = received.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const head = received.toString("latin1", 0, end);
  const status = Number(head.slice(9, 12));
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (!length)
    return /\r\ntransfer-encoding: *chunked/i.test(head)
      ? parseChunks(received, end + 4, status)
      : { status, body: "null" };
  const to = end + 4 + Number(length[1]);
  return received.length < to ? undefined : { status, body: received.toString("utf8", end + 4, to) };
}

function parseChunks(received, from, status) {
  const parts = [];
  for (let at = from; ; ) {
    const line = received.indexOf("\r\n", at);
    if (line < 0) return undefined;
    const size = Number.parseInt(received.toString("latin1", at, line), 16);
    if (received.length < line + 2 + size + 2) return undefined;
    if (size === 0) return { status, body: Buffer.concat(parts).toString("utf8") };
    parts.push(received.subarray(line + 2, line + 2 + size));
    at = line + 2 + size + 2;
  }
}

/** Reads an event stream to its end and counts: the follower must cost less than the one that is measured. */
export async function drain(daemon, path) {
  const { hostname, port, host } = new URL(daemon.url);
  const socket = net.connect(Number(port), hostname);
  const head = `GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${daemon.token}\r\naccept: text/event-stream\r\n`;
  socket.write(`${head}connection: close\r\n\r\n`);
  let bytes = 0;
  let last = "";
  for await (const data of socket) {
    bytes += data.length;
    last = (data.length < 512 ? last + data.toString("latin1") : data.toString("latin1", data.length - 512)).slice(
      -512,
    );
    if (last.includes("event: end")) break;
  }
  return { bytes, last };
}
