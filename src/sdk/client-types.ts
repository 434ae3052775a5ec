import type { OperationInput, OperationName, OperationOutput, routes } from "../contract/index.ts";
import type { CallOptions } from "./call.ts";

type Routes = typeof routes;
type Camel<S extends string> = S extends `${infer Head}-${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;
type ParameterOf<K extends OperationName> = Routes[K]["path"] extends `${string}{${infer Name}}${string}`
  ? Name
  : never;

/** Operations that answer with one value; streams and attachments have methods of their own. */
export type ValueOperation = {
  [K in OperationName]: Routes[K] extends { body: "bytes" }
    ? never
    : Routes[K]["answer"] extends "json" | "text"
      ? K
      : never;
}[OperationName];

/** Query or body of an operation, without its path parameters. */
export type RequestOf<K extends OperationName> = Omit<OperationInput<K>, ParameterOf<K>>;

type Arguments<K extends OperationName> = [
  ...([ParameterOf<K>] extends [never] ? [] : [id: string]),
  ...(Partial<RequestOf<K>> extends RequestOf<K>
    ? [request?: RequestOf<K>, options?: CallOptions]
    : [request: RequestOf<K>, options?: CallOptions]),
];

/** One operation as a method: path parameter first, then query or body, then options. */
export type Method<K extends OperationName> = (...given: Arguments<K>) => Promise<OperationOutput<K>>;

/** The methods of one family of the table: `process.by-token` becomes `byToken`. */
export type Methods<Family extends string> = {
  [K in ValueOperation as K extends `${Family}.${infer Name}` ? Camel<Name> : never]: Method<K>;
};
