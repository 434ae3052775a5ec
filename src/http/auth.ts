import { hash, timingSafeEqual } from "node:crypto";
import { Fault, type Grant } from "../contract/index.ts";

/** Tokens beside the home's own. */
export interface TokenBook {
  /** What the token with this SHA-256 gives; undefined for one that was never made or is revoked. Fault auth/expired. */
  find(digest: Buffer): Grant | undefined;
  /** Why a token that was let in may not go on; undefined while it may. */
  refusal(tokenId: string): Fault | undefined;
  /** Calls when a token stops being valid. */
  watch(on: (tokenId: string, why: Fault) => void): () => void;
}

export interface AuthOptions {
  /** The home's own token: everything. */
  readonly token: string;
  readonly tokens: TokenBook;
  /** Host names beside the loopback ones; with a port only that port, without one any. */
  readonly allowedHosts: readonly string[];
  /** Origins of web pages that may call, as browsers write them: `https://box.example:8443`. */
  readonly allowedOrigins: readonly string[];
}

/** Which listener a request came through. */
export type Door = { readonly kind: "unix" } | { readonly kind: "tcp"; readonly port: number };

/** One header's value by lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

export interface Visitor {
  readonly door: Door;
  readonly header: HeaderReader;
  /** The route answers without a token. */
  readonly open: boolean;
  /** A WebSocket may carry its token as a subprotocol, because browsers cannot set headers there. */
  readonly upgrade?: boolean;
}

/** Two checks, each throws: where the request comes from, and whether it may. */
export interface Gate {
  /** Host and Origin; returns the foreign origin that may read the answer, if it is one of the allowed. */
  checkSource(visitor: Visitor): string | undefined;
  /** What the token gives. The Unix socket and open routes need none; one that is sent there counts all the same. */
  checkToken(visitor: Visitor): Grant;
}

/** `Sec-WebSocket-Protocol` entry that carries a token. */
export const TOKEN_PROTOCOL = "drover.token.";

export function createGate(options: AuthOptions): Gate {
  const digest = hash("sha256", options.token, "buffer");
  const hosts = new Set(options.allowedHosts.map((host) => host.toLowerCase()));
  const origins = new Set(options.allowedOrigins.map((origin) => origin.toLowerCase()));
  return {
    checkSource(visitor) {
      const host = visitor.header("host")?.toLowerCase();
      if (visitor.door.kind === "tcp") checkHost(host, visitor.door.port, hosts);
      return checkOrigin(visitor, host, origins);
    },
    checkToken(visitor) {
      if (visitor.open) return nothing;
      const token = findToken(visitor);
      return visitor.door.kind === "unix" && token === undefined
        ? everything
        : checkToken(token, digest, options.tokens);
    },
  };
}

const everything: Grant = { scope: { kind: "all" }, readOnly: false };
/** Who showed no token gets an open route, which looks at nobody's things. */
const nothing: Grant = { scope: { kind: "all" }, readOnly: true };

/** A page elsewhere can point its own name at 127.0.0.1, but it cannot choose the Host header. */
function checkHost(host: string | undefined, port: number, allowed: ReadonlySet<string>): void {
  if (host && (isOwnHost(host, port) || allowed.has(host) || allowed.has(host.replace(/:\d+$/, "")))) return;
  throw new Fault(
    "auth/foreign-host",
    `The Host header "${host ?? ""}" is not this daemon's. Call 127.0.0.1 or localhost, or list the host in allowed_hosts.`,
  );
}

const loopback: readonly string[] = ["127.0.0.1", "localhost", "[::1]"];

function isOwnHost(host: string, port: number): boolean {
  if (port === 80 && loopback.includes(host)) return true;
  const suffix = `:${port}`;
  return host.endsWith(suffix) && loopback.includes(host.slice(0, -suffix.length));
}

function checkOrigin(visitor: Visitor, host: string | undefined, allowed: ReadonlySet<string>): string | undefined {
  const origin = visitor.header("origin");
  if (origin === undefined) return undefined;
  const given = origin.toLowerCase();
  // The host has been checked on TCP; on the Unix socket nothing is a page's own origin.
  if (visitor.door.kind === "tcp" && given === `http://${host}`) return undefined;
  if (allowed.has(given)) return origin;
  throw new Fault(
    "auth/foreign-origin",
    `Pages of ${origin} may not call this daemon. List the origin in allowed_origins if it is yours.`,
  );
}

function findToken(visitor: Visitor): string | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(visitor.header("authorization") ?? "")?.[1];
  if (bearer || !visitor.upgrade) return bearer;
  const offered = (visitor.header("sec-websocket-protocol") ?? "").split(",").map((entry) => entry.trim());
  return offered.find((entry) => entry.startsWith(TOKEN_PROTOCOL))?.slice(TOKEN_PROTOCOL.length);
}

/** Digests have one length, so that the comparison's time tells nothing about the token. */
function checkToken(token: string | undefined, own: Buffer, book: TokenBook): Grant {
  if (!token) {
    throw new Fault(
      "auth/required",
      "A token is needed: send `Authorization: Bearer <token>`; `drover token` prints it.",
    );
  }
  const digest = hash("sha256", token, "buffer");
  const grant = timingSafeEqual(digest, own) ? everything : book.find(digest);
  if (grant) return grant;
  throw new Fault(
    "auth/wrong-token",
    "This token is not this daemon's, or was revoked; `drover token` prints the right one.",
  );
}
