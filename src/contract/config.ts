import { z } from "zod";

const mib = 1 << 20;

/** `config.json` in DROVER_HOME. Unknown keys are refused with the nearest right one; changes apply at restart. */
export const config = z
  .strictObject({
    port: z.int().min(0).max(65_535).default(7333),
    host: z.enum(["127.0.0.1", "::1"]).default("127.0.0.1"),
    directory: z.string().optional().describe("Where processes start when they name no directory."),
    env: z.record(z.string(), z.string()).default({}).describe("Added to every process."),
    env_policy: z
      .enum(["all", "allow"])
      .default("all")
      .describe("`allow`: of the daemon's environment only `env_allow` is passed on."),
    env_allow: z
      .array(z.string())
      .default(["PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TZ", "TERM", "SHELL", "TMPDIR"]),
    env_hook: z.string().optional().describe("Executable that prints NAME=VALUE, called with chat id and directory."),
    env_hook_null: z.boolean().default(false).describe("The hook separates by NUL and is called with `-0`."),
    env_hook_cache_ms: z.int().min(0).default(60_000),
    log_bytes: z
      .int()
      .min(65_536)
      .default(64 * mib),
    log_head_bytes: z
      .int()
      .min(16_384)
      .default(8 * mib),
    log_total_bytes: z
      .int()
      .min(mib)
      .default(2048 * mib),
    keep_per_chat: z.int().min(1).default(200),
    keep_days: z.number().min(0).default(7),
    max_running: z.int().min(1).default(10_000),
    stop_grace_ms: z.int().min(0).default(5_000),
    oom_score_adj: z
      .int()
      .min(-1000)
      .max(1000)
      .default(500)
      .describe("Raised for every command, so that the kernel ends it before us."),
    nice: z.int().min(-20).max(19).optional(),
    allowed_origins: z.array(z.string()).default([]),
    allowed_hosts: z.array(z.string()).default([]),
    machine_name: z.string().optional(),
    log_level: z.enum(["debug", "info", "warn", "error"]).default("info"),
  })
  .meta({ id: "Config" });

export type Config = z.output<typeof config>;
