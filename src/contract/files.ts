import { z } from "zod";

const path = z.string().min(1).describe("Absolute.");
const count = z.coerce.number().int().min(0);
const parts = z.union([z.string(), z.array(z.string())]);

/** Query of `POST /list-directory`; it wins over the body, as in the original. */
export const listDirectoryQuery = z.object({ path: parts.optional().describe("Absolute path of the directory.") });
export const listDirectoryRequest = z
  .object({
    path: parts.optional().describe("Names from `relativity` downwards, or one absolute path."),
    relativity: z.enum(["root", "home", ""]).optional().describe("Where `path` starts: `root` (default) or `home`."),
  })
  .meta({ id: "ListDirectoryRequest" });
export const listDirectoryAnswer = z
  .object({
    absolute_path: z.array(z.string()),
    absolute_path_string: z.string(),
    contents: z.array(
      z.object({
        name: z.string(),
        absolute_path_string: z.string(),
        is_dir: z.boolean().describe("Also true for a symbolic link to a directory."),
      }),
    ),
  })
  .meta({ id: "ListDirectoryAnswer" });

export const resolvePathQuery = z.object({ path });
export const resolvePathAnswer = z.object({ resolved_path: z.string() }).meta({ id: "ResolvePathAnswer" });

export const readFileQuery = z.object({
  path,
  offset: count.optional().describe("First byte."),
  limit: count.optional().describe("Most bytes; 0 or absent reads to the end."),
});

export const readLinesQuery = z.object({
  path,
  offset: count.optional().describe("First line, from 1."),
  limit: count.optional().describe("Most lines; 0 or absent reads to the end."),
  max_file_size: count.optional().describe("Default 1 MiB."),
  max_line_bytes: count.optional().describe("A longer line is cut and says so. Default 1024."),
  max_response_lines: count.max(100_000).optional().describe("Default 2000."),
  max_response_bytes: count
    .max(4 << 20)
    .optional()
    .describe("Default 32768."),
});
export const readLinesAnswer = z
  .object({
    success: z.boolean(),
    file_size: z.int(),
    total_lines: z.int(),
    lines_read: z.int(),
    content: z.string().describe("One `N<TAB>text` for each line."),
    error: z.string().optional(),
  })
  .meta({ id: "ReadLinesAnswer" });

export const writeFileQuery = z.object({ path });
export const writeFileAnswer = z
  .object({
    message: z.string(),
    bytes: z.int(),
    created: z.boolean(),
    note: z.string().optional().describe("What could not be kept, such as the owner."),
  })
  .meta({ id: "WriteFileAnswer" });

export const fileEdit = z
  .object({ search: z.string(), replace: z.string().optional(), replace_all: z.boolean().optional() })
  .meta({ id: "FileEdit" });
export const editFilesRequest = z
  .object({
    files: z.array(z.object({ path: z.string(), edits: z.array(fileEdit).min(1) })).min(1),
    include_diff: z.boolean().optional().describe("Answer with a unified diff of each file."),
  })
  .meta({ id: "EditFilesRequest" });
export const editFilesAnswer = z
  .object({ files: z.array(z.object({ path: z.string(), diff: z.string() })).optional() })
  .meta({ id: "EditFilesAnswer" });
