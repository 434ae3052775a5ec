import { describe, expect, it } from "vitest";
import type { ProcessId } from "../../../src/contract/index.ts";
import { checkMeta } from "../../../src/native/meta.ts";
import { metaOf } from "./meta-of.ts";

const meta = metaOf();

describe("a meta file", () => {
  it("comes back as it was written", () => {
    expect(checkMeta(JSON.stringify(meta), meta.id)).toEqual(meta);
  });

  it.each([
    ["", /not JSON/],
    ["null", /not an object/],
    ["{}", /layout/],
    [JSON.stringify({ ...meta, id: "other" }), /another process/],
    [JSON.stringify({ ...meta, seq: "1" }), /valid seq/],
    [JSON.stringify({ ...meta, argv: [1] }), /valid argv/],
    [JSON.stringify(meta).slice(0, -3), /not JSON/],
  ])("that is wrong says so: %s", (text, message) => {
    expect(() => checkMeta(text, meta.id as ProcessId)).toThrow(message);
  });
});
