const reached = ["file/bad-path", "file/not-found", "file/forbidden", "file/failed"] as const;
const queried = ["request/invalid", "request/unknown-field"] as const;
const written = ["file/not-a-file", "file/not-a-directory", "file/disk-full", "file/too-large"] as const;

/** Files of the daemon's user, for model clients: the paths and answers of the original API. */
export const fileRoutes = {
  "file.list": {
    method: "POST",
    path: "/api/v0/list-directory",
    answer: "json",
    emptyBody: true,
    closedQuery: true,
    summary: "Names in a directory: directories first, then by name.",
    faults: [
      ...queried,
      ...reached,
      "request/invalid-json",
      "request/too-large",
      "file/not-a-directory",
      "file/too-large",
    ],
  },
  "file.resolve": {
    method: "GET",
    path: "/api/v0/resolve-path",
    answer: "json",
    closedQuery: true,
    summary: "A path without symbolic links; what does not exist yet is kept.",
    faults: [...queried, ...reached, "file/not-a-directory"],
  },
  "file.read": {
    method: "GET",
    path: "/api/v0/read-file",
    answer: "bytes",
    closedQuery: true,
    summary: "The bytes of a file, or a range of them.",
    faults: [...queried, ...reached, "file/not-a-file", "file/not-a-directory"],
  },
  "file.read-lines": {
    method: "GET",
    path: "/api/v0/read-file-lines",
    answer: "json",
    closedQuery: true,
    summary: "Numbered lines of a text file; whatever is wrong with the file is said in `error`.",
    faults: [...queried],
  },
  "file.write": {
    method: "POST",
    path: "/api/v0/write-file",
    answer: "json",
    body: "bytes",
    closedQuery: true,
    changes: true,
    summary: "Replace a file by the body, whole or not at all; missing directories are made.",
    faults: [...queried, ...reached, ...written, "request/stalled"],
  },
  "file.edit": {
    method: "POST",
    path: "/api/v0/edit-files",
    answer: "json",
    closedQuery: true,
    changes: true,
    summary: "Replace texts in files: all edits of all files, or none.",
    faults: [
      ...queried,
      ...reached,
      ...written,
      "request/invalid-json",
      "request/too-large",
      "file/no-match",
      "file/ambiguous-match",
      "file/same-file",
      "file/changed",
    ],
  },
} as const;
