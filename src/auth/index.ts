export { Authenticator } from "./authenticator.ts";
export type { Principal } from "./principal.ts";
export { openTokenStore } from "./sql/open.ts";
export type { TokenRecord, TokenStore } from "./store.ts";
export { issueToken } from "./token.ts";
