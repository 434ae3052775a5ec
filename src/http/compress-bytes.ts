/** Below this compression costs more time than it saves bytes. */
export const COMPRESS_BYTES = 1024;
