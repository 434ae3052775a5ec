// tokens: who may ask, and for what. Tokens beside the home's own, each with a scope, perhaps an end.
//
// A token is 256 random bits and is shown once, when it is made. At rest there is its SHA-256 only. All tokens are kept in memory
// by digest, so that a request costs one hash and one look-up; the daemon is the only writer of the table, so the two never differ.
//
// Invariants: what is revoked or expired is refused from that moment on, and watchers are told, so that streams it opened end too;
// a full disk keeps nobody out; a database that had to be begun anew holds no tokens, which closes the door and opens none.
//
// Read: token-book.ts.
export { type NewToken, TokenBook, type TokenBookOptions } from "./token-book.ts";
