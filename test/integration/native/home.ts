import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../../src/base/index.ts";
import type { ProcessId, ProcessMeta } from "../../../src/contract/index.ts";
import {
  findSurvivors,
  type Hint,
  HintReader,
  helperPaths,
  Keeper,
  type LaunchSpec,
  RunDirectories,
  signalByIdentity,
} from "../../../src/native/index.ts";
import { metaOf } from "../../unit/native/meta-of.ts";

const lines: string[] = [];
/** Keeps what was logged, for a failing test to print. */
export const quiet: Log = {
  debug: (message) => lines.push(message),
  info: (message) => lines.push(message),
  warn: (message) => lines.push(message),
  error: (message) => lines.push(message),
  child: () => quiet,
};

/** Looks until it holds. */
export async function until<T>(
  look: () => T | undefined | false | Promise<T | undefined | false>,
  ms = 15_000,
): Promise<T> {
  const end = Date.now() + ms;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > end) throw new Error("it never held");
    await sleep(5);
  }
}

export function temporaryHome(prefix = "drover-test-"): { home: string; remove: () => void } {
  const home = mkdtempSync(join(tmpdir(), prefix));
  return { home, remove: () => rmSync(home, { recursive: true, force: true }) };
}

/** A home with a FIFO, run directories and a keeper: everything below the process room. */
export class NativeHome {
  readonly hints: Hint[] = [];
  readonly failed: { id: ProcessId; errno: number; stage: number }[] = [];
  restarts = 0;
  private constructor(
    readonly home: string,
    readonly dirs: RunDirectories,
    private readonly removeHome: () => void,
  ) {}
  keeper!: Keeper;
  #reader: HintReader | undefined;
  readonly #ids: ProcessId[] = [];

  static async open(prefix?: string): Promise<NativeHome> {
    const { home, remove } = temporaryHome(prefix);
    const it = new NativeHome(home, RunDirectories.open(home), remove);
    it.#reader = HintReader.open(home, (hint) => it.hints.push(hint));
    it.keeper = await Keeper.start({
      path: helperPaths.keeper,
      log: quiet,
      onFailed: (id, errno, stage) => it.failed.push({ id, errno, stage }),
      onRestart: () => it.restarts++,
    });
    return it;
  }

  /** Makes the run directory and launches. */
  launch(shellText: string, change: Partial<LaunchSpec> = {}): ProcessId {
    const meta = metaOf({ argv: ["sh", "-c", shellText], command: shellText });
    this.dirs.create(meta);
    this.#ids.push(meta.id);
    this.keeper.launch({ ...this.specOf(meta), ...change });
    return meta.id;
  }

  specOf(meta: ProcessMeta): LaunchSpec {
    return {
      id: meta.id,
      runDir: this.dirs.path(meta.id),
      cwd: meta.workdir,
      execPath: meta.exec_path,
      argv: meta.argv,
      env: [`PATH=${process.env["PATH"]}`, `DROVER_PROCESS_ID=${meta.id}`],
      tty: false,
      split: false,
      stdin: "null",
      logHead: meta.log_head,
      logRing: meta.log_ring,
      graceMs: 1000,
    };
  }

  hint(id: ProcessId, kind: Hint["kind"]): Promise<Hint> {
    return until(() => this.hints.find((hint) => hint.id === id && hint.kind === kind));
  }

  async close(): Promise<void> {
    for (const id of this.#ids) {
      const shim = this.#shimOf(id);
      if (shim) await signalByIdentity(helperPaths.shim, 9, [shim]);
      const left = await findSurvivors({ id, exclude: [] });
      if (left.length > 0) await signalByIdentity(helperPaths.shim, 9, left);
    }
    await this.keeper.close();
    this.#reader?.close();
    this.dirs.close();
    this.removeHome();
  }

  #shimOf(id: ProcessId): { pid: number; start: number } | undefined {
    try {
      const state = this.dirs.readState(id);
      return state && !state.end ? { pid: state.header.shimPid, start: state.header.shimStart } : undefined;
    } catch {
      return undefined;
    }
  }
}
