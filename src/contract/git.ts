import { z } from "zod";

/** One changed path. Numbers are absent when they are not known (binary, or too large to count). */
export const gitFile = z
  .object({
    path: z.string(),
    old_path: z.string().optional().describe("Where it was before a rename."),
    status: z.enum(["modified", "added", "deleted", "renamed", "copied", "type_changed", "untracked", "unmerged"]),
    staged: z.boolean().describe("The index differs from HEAD."),
    unstaged: z.boolean().describe("The work tree differs from the index."),
    additions: z.int().optional(),
    deletions: z.int().optional(),
    binary: z.literal(true).optional(),
    submodule: z.literal(true).optional(),
  })
  .meta({ id: "GitFile" });

/** One repository; `removed` means that it is gone and nothing else is known. */
export const gitRepository = z
  .object({
    repo_root: z.string(),
    branch: z.string().describe("Empty when HEAD is detached."),
    remote_origin: z.string().optional(),
    unified_diff: z
      .string()
      .optional()
      .describe("Staged and unstaged together, then untracked files. Holds every file's diff whole or not at all."),
    removed: z.literal(true).optional(),
    head: z.string().optional().describe("The commit; absent before the first one."),
    upstream: z.string().optional(),
    ahead: z.int().optional(),
    behind: z.int().optional(),
    files: z.array(gitFile).optional(),
    files_omitted: z.int().optional().describe("Changed files beyond the bound of `files`."),
    diff_omitted: z.array(z.string()).optional().describe("Files of `files` whose diff did not fit."),
    error: z.string().optional().describe("Why this repository cannot be read, in git's words where there are any."),
  })
  .meta({ id: "GitRepository" });

/** A message of the watch. Without `repositories` it only says that nothing changed. */
export const gitChanges = z
  .object({
    type: z.literal("changes"),
    scanned_at: z.string(),
    repositories: z.array(gitRepository).optional(),
  })
  .meta({ id: "GitChanges" });

/** What the daemon watches, for `status` and `doctor`. */
export const gitFacts = z
  .object({
    connections: z.int(),
    repositories: z.int(),
    polled: z.int().describe("Those without file-system events: a change shows up within 5 s instead of 1.5 s."),
    reasons: z.array(z.string()).describe("Why they are polled."),
  })
  .meta({ id: "GitFacts" });

export const gitWatchQuery = z.object({
  chat_id: z.string().optional().describe("The chat whose repositories are watched; absent: the caller's."),
});
export const gitStatusQuery = z.object({
  path: z.string().describe("Absolute; the nearest repository that holds it."),
});
export const gitStreamQuery = z.object({
  chat_id: z.string().optional().describe("The chat whose repositories are watched; absent: the caller's."),
  path: z.string().optional().describe("One repository instead of a chat's."),
  last_event_id: z.string().optional().describe("Taken and not needed: a new stream begins with the full state."),
});
