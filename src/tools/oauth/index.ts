/** Loaded with the first sign-in: it is much code. */
export { OAuthServer } from "./oauth-server.ts";
export { ConnectionSignIns } from "./sign-ins.ts";
export { TokenExchange } from "./token-exchange.ts";
