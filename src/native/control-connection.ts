import { createHash } from "node:crypto";
import { connect as connectSocket, type Socket } from "node:net";
import { constants } from "node:os";
import { type Deferred, defer } from "../base/index.ts";
import { type EndReason, Fault, type ProcessId, STDIN_QUEUE_BYTES } from "../contract/index.ts";
import { encodeFrame, type FieldIn, Fields, type Frame, FrameReader } from "./frame.ts";
import {
  FRAME_DATA_MAX,
  FRAME_REQUIRED,
  frameTypes,
  fieldKeys as key,
  lookBits,
  PROTOCOL_OLDEST,
  PROTOCOL_VERSION,
  scopes,
} from "./protocol.ts";
import type { RunDirectories } from "./run-directories.ts";
import {
  parseLook,
  parseNotice,
  parseStatus,
  parseStopped,
  type ShimLook,
  type ShimNotice,
  type ShimStatus,
  type ShimStopped,
} from "./shim-answers.ts";
import { type ShimRequest, toFault, unreachable } from "./shim-faults.ts";
import { fromReason } from "./words.ts";

/** A shim answers within microseconds; one that is frozen must not hold its callers for ever. Stdin and stop may take long. */
const ANSWER_MS = 10_000;
const patient: readonly ShimRequest[] = ["stdin", "stop"];

interface Pending {
  readonly request: ShimRequest;
  readonly answer: Deferred<Fields>;
  readonly timer: NodeJS.Timeout | undefined;
}

/** One step of a stop: the signal, then how long to wait for the tree to end. */
export interface StopStep {
  signal: number;
  waitMs: number;
}

/** One socket to one shim. Requests are pipelined and paired with their answers by tag. */
export class ControlConnection {
  /** Resolves when the socket is closed, by whichever side. */
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #frames = new FrameReader();
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Set<(notice: ShimNotice) => void>();
  #subscribed = false;
  #tag = 0;
  #why: Fault | undefined;
  #longWrite: Promise<unknown> | undefined;
  #waitingBytes = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    const closed = defer<void>();
    this.closed = closed.promise;
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => {
      this.#why ??= unreachable("connection failed", error);
    });
    socket.on("close", () => {
      this.#fail(this.#why ?? unreachable("the shim closed the connection"));
      closed.resolve();
    });
  }

  /** Rejects with Fault process/unreachable when there is no shim, or none that speaks a version known here. */
  static async connect(dirs: RunDirectories, id: ProcessId): Promise<ControlConnection> {
    const connection = new ControlConnection(connectSocket(dirs.controlPath(id)));
    try {
      const hello = await connection.#ask("hello", frameTypes.hello, [
        [key.versionMin, PROTOCOL_OLDEST],
        [key.versionMax, PROTOCOL_VERSION],
      ]);
      const version = hello.number(key.version) ?? 0;
      if (version < PROTOCOL_OLDEST || version > PROTOCOL_VERSION)
        throw unreachable(`the shim speaks version ${version}`);
      if (hello.text(key.id) !== id) throw unreachable("the socket belongs to another process");
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** Somebody is subscribed or waits for an answer: not to be closed for being idle. */
  get busy(): boolean {
    return this.#listeners.size > 0 || this.#pending.size > 0;
  }

  async status(): Promise<ShimStatus> {
    return parseStatus(await this.#ask("status", frameTypes.status));
  }

  /** Calls for every change after the status that it answers with, until `unsubscribe` or the end of the connection. */
  async subscribe(on: (notice: ShimNotice) => void): Promise<ShimStatus> {
    this.#listeners.add(on);
    const type = this.#subscribed ? frameTypes.status : frameTypes.subscribe;
    this.#subscribed = true;
    return parseStatus(await this.#ask("subscribe", type));
  }

  unsubscribe(on: (notice: ShimNotice) => void): void {
    this.#listeners.delete(on);
  }

  /** Resolves when the kernel has taken every byte. Long data goes in parts, one after the other; nobody comes between them. */
  async writeStdin(
    data: Uint8Array | undefined,
    options: { writeId?: Buffer; close?: boolean } = {},
  ): Promise<{ written: number; duplicate: boolean }> {
    const size = data?.length ?? 0;
    while (this.#longWrite) await this.#waitForLongWrite(this.#longWrite, size);
    if (!data || size <= FRAME_DATA_MAX) return this.#writePart(data, options);
    const work = this.#writeParts(data, options);
    this.#longWrite = work.then(
      () => this.#endLongWrite(),
      () => this.#endLongWrite(),
    );
    return work;
  }

  async resize(cols: number, rows: number): Promise<void> {
    await this.#ask("resize", frameTypes.resize, [
      [key.cols, cols],
      [key.rows, rows],
    ]);
  }

  /** How many processes it reached. */
  async signal(signo: number, scope: "group" | "leader" | "tree", reason?: EndReason): Promise<number> {
    const fields: FieldIn[] = [
      [key.signal, signo],
      [key.scope, scopes[scope]],
    ];
    if (reason) fields.push([key.reason, fromReason(reason)]);
    return (await this.#ask("signal", frameTypes.signal, fields)).number(key.count) ?? 0;
  }

  /** Answers when nothing is left or nothing more can be done; has no timeout of its own. */
  async stop(steps: readonly StopStep[], reason: "stopped" | "timeout" | "limit"): Promise<ShimStopped> {
    const fields = steps.map(
      ({ signal, waitMs }): FieldIn => [key.step, signal * 2 ** 32 + Math.min(waitMs, 2 ** 32 - 1)],
    );
    return parseStopped(await this.#ask("stop", frameTypes.stop, [...fields, [key.reason, fromReason(reason)]]));
  }

  async look(what: { tree?: boolean; activity?: boolean; ports?: boolean; usage?: boolean }): Promise<ShimLook> {
    let bits = 0;
    for (const name of ["tree", "activity", "ports", "usage"] as const) if (what[name]) bits |= lookBits[name];
    return parseLook(await this.#ask("look", frameTypes.look, [[key.what, bits]]));
  }

  close(): void {
    this.#why ??= unreachable("the connection was closed");
    this.#socket.destroy();
  }

  async #writeParts(
    data: Uint8Array,
    options: { writeId?: Buffer; close?: boolean },
  ): Promise<{ written: number; duplicate: boolean }> {
    let written = 0;
    let duplicate = true;
    for (let from = 0, part = 0; from < data.length; from += FRAME_DATA_MAX, part++) {
      const to = Math.min(from + FRAME_DATA_MAX, data.length);
      const isLast = to === data.length;
      const answer = await this.#writePart(data.subarray(from, to), {
        ...(options.writeId && { writeId: partId(options.writeId, part) }),
        ...(isLast && options.close && { close: true }),
      });
      written += answer.written;
      duplicate &&= answer.duplicate;
    }
    return { written, duplicate };
  }

  async #writePart(
    data: Uint8Array | undefined,
    options: { writeId?: Buffer; close?: boolean },
  ): Promise<{ written: number; duplicate: boolean }> {
    const fields: FieldIn[] = [];
    if (data) fields.push([key.data, data]);
    if (options.writeId) fields.push([key.writeId, options.writeId]);
    if (options.close) fields.push([key.close, 1]);
    const answer = await this.#ask("stdin", frameTypes.stdin, fields);
    return { written: answer.number(key.size) ?? 0, duplicate: answer.number(key.duplicate) === 1 };
  }

  async #waitForLongWrite(long: Promise<unknown>, size: number): Promise<void> {
    if (this.#waitingBytes + size > STDIN_QUEUE_BYTES && this.#waitingBytes > 0)
      throw toFault("stdin", constants.errno.EAGAIN, "queue full");
    this.#waitingBytes += size;
    await long;
    this.#waitingBytes -= size;
  }

  #endLongWrite(): void {
    this.#longWrite = undefined;
  }

  #ask(request: ShimRequest, type: number, fields: readonly FieldIn[] = []): Promise<Fields> {
    if (this.#why) return Promise.reject(this.#why);
    const tag = ++this.#tag;
    const answer = defer<Fields>();
    const timer = patient.includes(request) ? undefined : setTimeout(() => this.#giveUp(), ANSWER_MS);
    timer?.unref();
    this.#pending.set(tag, { request, answer, timer });
    this.#socket.write(encodeFrame(type, tag, fields));
    return answer.promise;
  }

  #giveUp(): void {
    this.#why ??= unreachable("the shim does not answer");
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#frames.push(chunk)) this.#take(frame);
    } catch (error) {
      this.#why ??= unreachable("the shim sent garbage", error);
      this.#socket.destroy();
    }
  }

  #take(frame: Frame): void {
    if (frame.type === frameTypes.notice) {
      const notice = parseNotice(new Fields(frame.body));
      for (const listener of this.#listeners) listener(notice);
      return;
    }
    const pending = this.#pending.get(frame.tag);
    if (!pending || !answers.has(frame.type)) {
      if (frame.flags & FRAME_REQUIRED) this.#refuse(frame.tag);
      return;
    }
    const fields = new Fields(frame.body);
    this.#pending.delete(frame.tag);
    clearTimeout(pending.timer);
    if (frame.type !== frameTypes.error) pending.answer.resolve(fields);
    else pending.answer.reject(toFault(pending.request, fields.number(key.errno) ?? 0, fields.text(key.text) ?? ""));
  }

  /** An unknown frame that must be understood. */
  #refuse(tag: number): void {
    this.#socket.write(
      encodeFrame(frameTypes.error, tag, [
        [key.errno, constants.errno.ENOSYS],
        [key.text, "unknown frame"],
      ]),
    );
  }

  #fail(why: Fault): void {
    this.#why = why;
    for (const pending of this.#pending.values()) {
      clearTimeout(pending.timer);
      pending.answer.reject(why);
    }
    this.#pending.clear();
    this.#listeners.clear();
  }
}

const answers: ReadonlySet<number> = new Set([
  frameTypes.helloOk,
  frameTypes.statusOk,
  frameTypes.stdinOk,
  frameTypes.ok,
  frameTypes.signalOk,
  frameTypes.stopOk,
  frameTypes.lookOk,
  frameTypes.error,
]);

/** Each part of a long write has an id of its own that the same write gets again. */
function partId(writeId: Buffer, part: number): Buffer {
  if (part === 0) return writeId;
  return createHash("sha256").update(writeId).update(`:${part}`).digest().subarray(0, 16);
}
