import type { ProcessId, ProcessMeta } from "../contract/index.ts";

/** What adoption cannot do without. */
const needed: Record<string, "string" | "number" | "boolean"> = {
  machine_id: "string",
  seq: "number",
  command: "string",
  exec_path: "string",
  workdir: "string",
  background: "boolean",
  tty: "boolean",
  streams: "string",
  stdin: "string",
  log_head: "number",
  log_ring: "number",
  stop_grace_ms: "number",
  on_chat_end: "string",
  created_at_ms: "number",
};

/** The meta file's text as an object; throws an Error that says what is wrong with it. */
export function checkMeta(text: string, id: ProcessId): ProcessMeta {
  let meta: unknown;
  try {
    meta = JSON.parse(text);
  } catch (cause) {
    throw new Error("meta is not JSON", { cause });
  }
  if (typeof meta !== "object" || meta === null) throw new Error("meta is not an object");
  const fields = meta as Record<string, unknown>;
  if (fields["layout"] !== 1) throw new Error("meta has a layout that is not known here");
  if (fields["id"] !== id) throw new Error("meta belongs to another process");
  for (const [name, kind] of Object.entries(needed)) {
    if (typeof fields[name] !== kind) throw new Error(`meta has no valid ${name}`);
  }
  const argv = fields["argv"];
  if (!Array.isArray(argv) || argv.some((word) => typeof word !== "string")) throw new Error("meta has no valid argv");
  return meta as ProcessMeta;
}
