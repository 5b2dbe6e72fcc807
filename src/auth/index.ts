export { Authenticator, type AuthenticatorOptions } from "./authenticator.ts";
export type { Principal } from "./principal.ts";
export { openTokenStore } from "./sql/open.ts";
export type { TokenRecord, TokenStore } from "./store.ts";
export { type IssuedToken, issueToken } from "./token.ts";
