/** Bounds that both sides of the wire know, each with its reason. */

/** The original API shows this much of the start of an output; a model's context is dear. */
export const SUMMARY_HEAD_BYTES = 16_384;
/** And this much of its end, where the failure is. */
export const SUMMARY_TAIL_BYTES = 16_384;
/** A longer line is cut in the summary; minified files would eat the whole budget. */
export const SUMMARY_LINE_BYTES = 2_048;
/** Longest body of start, signal, stdin and the like. */
export const BODY_BYTES = 4 << 20;
/** `output?wait=true` answers after this long at the latest, as the original does. */
export const OUTPUT_WAIT_MS = 300_000;
/** Most bytes of log in one answer; more is paged by `next`. */
export const LOG_ANSWER_BYTES = 1 << 20;
/** Bytes of log in one SSE event or WebSocket frame. */
export const STREAM_CHUNK_BYTES = 64 << 10;
/** `screen` replays at most this much of a terminal's output: the emulator does about 20 MB/s. */
export const SCREEN_REPLAY_BYTES = 1 << 20;
/** Exited processes in the default list, as in the original. */
export const LIST_EXITED = 10;
/** Exited processes leave the default list after this long, as in the original. */
export const LIST_EXITED_MS = 300_000;
/** Most entries of one list page. */
export const LIST_PAGE = 1_000;
/** Stdin bytes that may wait for a process that does not read. */
export const STDIN_QUEUE_BYTES = 1 << 20;
/** One wait never lasts longer than a day; callers go on with the cursor. */
export const WAIT_MAX_MS = 86_400_000;
/** No tool call blocks longer: MCP clients give up at 60 s, and a handle goes on where the call ended. */
export const TOOL_CALL_MS = 45_000;
/** Output in one tool result when the call does not say; a model's context is dear. */
export const TOOL_OUTPUT_BYTES = 32_768;
/** Least and most that a call may ask for. */
export const TOOL_OUTPUT_MIN_BYTES = 1_024;
export const TOOL_OUTPUT_MAX_BYTES = 262_144;
/** A command that waits for input this long is answered at once instead of at its timeout. */
export const TOOL_INPUT_MS = 1_500;
