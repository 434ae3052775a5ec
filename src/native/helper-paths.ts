import { accessSync, constants } from "node:fs";
import { fileURLToPath } from "node:url";
import { Fault } from "../contract/index.ts";

/** Where `make` puts the C helpers: build/, beside src/ and dist/. Reading one checks it: Fault native/missing. */
export const helperPaths = {
  get keeper(): string {
    return check("drover-keeper");
  },
  get shim(): string {
    return check("drover-shim");
  },
};

function check(name: string): string {
  const path = fileURLToPath(new URL(`../../build/${name}`, import.meta.url));
  try {
    accessSync(path, constants.X_OK);
  } catch (cause) {
    throw new Fault("native/missing", `${path} is not there or cannot be executed; run \`make\`.`, { cause });
  }
  return path;
}
