import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

/** Ctrl-C, a hang-up and a polite end as an AbortSignal, so that what is open is closed and the terminal is put right. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** Ends this program by the signal it got, as a shell expects it, so that Ctrl-C also ends the loop around us. */
  raise(): Promise<number>;
  close(): void;
}

type Name = "SIGINT" | "SIGTERM" | "SIGHUP";
const names: readonly Name[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** A second signal ends the program at once. */
export function interruption(): Interruption {
  const controller = new AbortController();
  let got: Name = "SIGINT";
  const listeners = names.map((name) => ({ name, listener: () => abort(name) }));
  const close = () => listeners.forEach(({ name, listener }) => process.off(name, listener));
  const abort = (name: Name) => {
    got = name;
    close();
    controller.abort();
  };
  for (const { name, listener } of listeners) process.on(name, listener);
  const raise = async () => {
    close();
    process.kill(process.pid, got);
    await sleep(1_000);
    return 128 + constants.signals[got];
  };
  return { signal: controller.signal, raise, close };
}
