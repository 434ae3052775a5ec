import { Fault, type ReadLinesAnswer, type ReadLinesQuery } from "../contract/index.ts";
import { LineScan } from "./line-scan.ts";
import { type OpenFile, openFile } from "./read-file.ts";

/** The original's defaults: what a model can take in at once. */
const MAX_FILE_SIZE = 1 << 20;
const MAX_LINE_BYTES = 1_024;
const MAX_LINES = 2_000;
const MAX_BYTES = 32_768;

export type LinesRequest = ReadLinesQuery;
export type Lines = ReadLinesAnswer;

/** Numbered lines of a text file. Whatever is wrong with the file is said in `error`; nothing is thrown for it. */
export async function readLines(request: LinesRequest, signal?: AbortSignal): Promise<Lines> {
  try {
    const file = await openFile(request.path);
    try {
      return await scan(file, request, signal);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof Fault) return failed(error.message);
    throw error;
  }
}

async function scan(file: OpenFile, request: LinesRequest, signal: AbortSignal | undefined): Promise<Lines> {
  const first = request.offset || 1;
  const last = request.limit ? first + request.limit - 1 : Number.POSITIVE_INFINITY;
  const maxFileSize = request.max_file_size || MAX_FILE_SIZE;
  if (file.size > maxFileSize) return failed(tooLarge(file.size, maxFileSize), file.size);
  const maxBytes = request.max_response_bytes || MAX_BYTES;
  const bounds = {
    first,
    last,
    // Of a line that cannot fit anyway no more is held than could.
    maxLineBytes: Math.min(request.max_line_bytes || MAX_LINE_BYTES, maxBytes),
    maxLines: request.max_response_lines || MAX_LINES,
    maxBytes,
  };
  const lines = new LineScan(bounds);
  for await (const chunk of file.chunks()) {
    signal?.throwIfAborted();
    lines.push(chunk);
  }
  const read = lines.end();
  const { total, over } = lines;
  if (over) {
    const bound = over.what === "lines" ? `${bounds.maxLines} lines` : `${bounds.maxBytes} bytes`;
    return failed(tooMuch({ first, last: Math.min(last, total), bound, fits: over.line - first }), file.size, total);
  }
  if (first > Math.max(total, 1)) {
    return failed(`Line ${first} is behind the end: the file has ${counted(total, "line")}.`, file.size, total);
  }
  return {
    success: true,
    file_size: file.size,
    total_lines: total,
    lines_read: read.length,
    content: read.join("\n"),
  };
}

function failed(error: string, size = 0, total = 0): Lines {
  return { success: false, file_size: size, total_lines: total, lines_read: 0, content: "", error };
}

function tooLarge(size: number, bound: number): string {
  return `The file has ${size} bytes, more than the ${bound} of max_file_size. Search it or print a part with a command (grep, sed -n), or raise max_file_size.`;
}

function tooMuch({ first, last, bound, fits }: { first: number; last: number; bound: string; fits: number }): string {
  const what = `Lines ${first} to ${last} are more than ${bound}.`;
  if (fits === 0) return `${what} Not even line ${first} fits: raise max_response_bytes or lower max_line_bytes.`;
  return `${what} Lines ${first} to ${first + fits - 1} fit: read them with offset=${first} and limit=${fits}, then go on from ${first + fits}.`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
