import { z } from "zod";
import type { ToolDefinition } from "./tool-definition.ts";

const path = z.string().min(1).max(4096).describe("Absolute path.");
const count = z.int().min(0);

const readFile = {
  name: "read_file",
  title: "Read a file",
  description:
    "Lines of a text file, each as `number<TAB>text`. `offset` is the first line (from 1), `limit` how many. Long files: read in parts.",
  input: z.strictObject({
    path,
    offset: z.int().min(1).optional().describe("First line, from 1."),
    limit: z.int().min(1).optional().describe("Most lines."),
  }),
  output: z
    .object({
      success: z.boolean(),
      file_size: count.optional(),
      total_lines: count.optional(),
      lines_read: count.optional(),
      content: z.string().optional(),
      error: z.string().optional(),
      note: z.string().optional(),
    })
    .meta({ id: "ToolReadFileResult" }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
} as const satisfies ToolDefinition;

const writeFile = {
  name: "write_file",
  title: "Write a file",
  description:
    "Write a whole file: atomically, parents made, mode kept. It replaces what was there; for a change in a file use edit_file.",
  input: z.strictObject({ path, content: z.string() }),
  output: z
    .object({
      success: z.boolean(),
      path: z.string().optional(),
      bytes: count.optional(),
      error: z.string().optional(),
    })
    .meta({ id: "ToolWriteFileResult" }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
} as const satisfies ToolDefinition;

const editFile = {
  name: "edit_file",
  title: "Edit a file",
  description:
    "Replace text in a file. Each `search` must occur exactly once unless `replace_all`; differences in outer white space are forgiven. All edits or none.",
  input: z.strictObject({
    path,
    edits: z
      .array(
        z.strictObject({
          search: z.string().min(1).describe("Text to find, with enough around it to be unique."),
          replace: z.string(),
          replace_all: z.boolean().optional(),
        }),
      )
      .min(1),
  }),
  output: z
    .object({
      success: z.boolean(),
      path: z.string().optional(),
      diff: z.string().optional(),
      error: z.string().optional(),
    })
    .meta({ id: "ToolEditFileResult" }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
} as const satisfies ToolDefinition;

const listDirectory = {
  name: "list_directory",
  title: "List a directory",
  description: "Names in a directory: directories first (ending in /), then files.",
  input: z.strictObject({ path }),
  output: z
    .object({
      success: z.boolean(),
      path: z.string().optional(),
      entries: z.array(z.string()).optional(),
      omitted: count.optional().describe("Entries that are not shown."),
      error: z.string().optional(),
    })
    .meta({ id: "ToolListDirectoryResult" }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
} as const satisfies ToolDefinition;

/** The tools about files. */
export const fileTools = [readFile, writeFile, editFile, listDirectory] as const satisfies readonly ToolDefinition[];
