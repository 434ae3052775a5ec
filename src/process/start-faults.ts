import { constants } from "node:os";
import { getSystemErrorMap } from "node:util";
import { Fault, type FaultCode, type ProcessMeta } from "../contract/index.ts";
import { launchStages } from "../native/index.ts";

const { errno: codes } = constants;

/** What the kernel's refusal of a launch means to the caller. Nothing is registered for it. */
export function startFault(meta: ProcessMeta, stage: number, errno: number, programExists: boolean): Fault {
  const reason = describeErrno(errno);
  if (stage === launchStages.cwd) {
    return new Fault("process/bad-workdir", `The directory ${JSON.stringify(meta.workdir)} cannot be entered.`, {
      detail: reason,
    });
  }
  if (stage === launchStages.exec) {
    const known = execFault(meta, errno, programExists);
    if (known) return new Fault(known.code, known.message, { detail: reason });
  }
  if (errno === codes.ENOSPC || errno === codes.EDQUOT) {
    return new Fault("store/disk-full", "No space is left under DROVER_HOME; nothing was started.", { detail: reason });
  }
  return failedStart(`${stageName(stage)}: ${reason}${advice(errno)}`);
}

/** The original's words for a start that failed: its clients look for the beginning of the detail. */
export function failedStart(detail: string): Fault {
  return new Fault("process/start-failed", "Failed to start process.", { detail: `start process: ${detail}` });
}

function execFault(
  meta: ProcessMeta,
  errno: number,
  exists: boolean,
): { code: FaultCode; message: string } | undefined {
  const program = JSON.stringify(meta.exec_path);
  switch (errno) {
    case codes.E2BIG:
      return {
        code: "process/too-long",
        message: "Arguments and environment are over the kernel's limit; pass large data through stdin or a file.",
      };
    case codes.ENOENT:
      return exists
        ? { code: "process/not-executable", message: `The interpreter that ${program} names does not exist.` }
        : { code: "process/command-not-found", message: `The command ${program} was not found.` };
    case codes.ENOTDIR:
      return { code: "process/command-not-found", message: `The command ${program} was not found.` };
    case codes.EACCES:
    case codes.EPERM:
      return { code: "process/not-executable", message: `The file ${program} may not be executed.` };
    case codes.ENOEXEC:
      return {
        code: "process/not-executable",
        message: `The file ${program} is not a program; a script needs a first line such as "#!/bin/sh".`,
      };
    default:
      return undefined;
  }
}

function advice(errno: number): string {
  if (errno === codes.EAGAIN) return "; the limit of processes is reached (ulimit -u, pids.max): stop something first";
  if (errno === codes.ENOMEM) return "; memory is short: stop something first";
  if (errno === codes.EMFILE || errno === codes.ENFILE) return "; the limit of open files is reached (ulimit -n)";
  return "";
}

function stageName(stage: number): string {
  const found = Object.entries(launchStages).find(([, number]) => number === stage);
  return found ? found[0].replaceAll("_", " ") : `stage ${stage}`;
}

function describeErrno(errno: number): string {
  const [name, text] = getSystemErrorMap().get(-errno) ?? [`errno ${errno}`, ""];
  return text ? `${text} (${name})` : name;
}
