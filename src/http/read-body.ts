import { BODY_BYTES, Fault } from "../contract/index.ts";

/** The body as text, never more than the bound in memory, whether or not its length was announced. */
export async function readBody(request: Request): Promise<string> {
  const announced = request.headers.get("content-length");
  if (announced !== null && Number(announced) > BODY_BYTES) throw tooLarge();
  try {
    // Node's parser ends a body at its announced length, so only a body without one has to be counted.
    if (announced !== null && !request.headers.has("transfer-encoding")) return await request.text();
    return request.body ? await readCounted(request.body) : "";
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault("request/invalid-json", "Request body must be valid JSON.", {
      detail: "The connection ended before the body did.",
      cause: error,
    });
  }
}

async function readCounted(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.byteLength;
    if (size > BODY_BYTES) {
      await reader.cancel();
      throw tooLarge();
    }
    text += decoder.decode(value, { stream: true });
  }
}

function tooLarge(): Fault {
  return new Fault(
    "request/too-large",
    `The body is over ${BODY_BYTES} bytes. Pass large data through a file or stdin.`,
  );
}
