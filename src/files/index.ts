// files: read, list, write and edit files of the daemon's user, for model clients.
//
// Plain functions over plain data; expected failures are Faults. Nothing is remembered between calls: what two writers could
// fight over is settled by rename(2), which replaces a file whole, and by looking once more at what was read before replacing it.
//
// Invariants: paths are absolute; only regular files are opened, and without waiting, so that no pipe or device can hold a thread;
// no file is held in memory beyond a named bound; a file is the old one or the new one, never a part of it, also after a power
// loss; a request that edits several files computes and stores all results before it replaces the first.
//
// Read: checked-path.ts, resolve-path.ts, open-file.ts, read-file.ts, read-lines.ts, list-directory.ts; replace-file.ts and
// write-file.ts; then edit-files.ts with edit-text.ts, find-text.ts, fit-lines.ts and unified-diff.ts.
export { type EditedFile, type EditRequest, editFiles } from "./edit-files.ts";
export { type DirectoryEntry, type DirectoryRequest, listDirectory } from "./list-directory.ts";
export { type FileRange, type OpenFile, openFile } from "./read-file.ts";
export { type Lines, type LinesRequest, readLines } from "./read-lines.ts";
export { resolvePath } from "./resolve-path.ts";
export { type WrittenFile, writeFile, writeText } from "./write-file.ts";
