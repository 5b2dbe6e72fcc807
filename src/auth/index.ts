export { Authenticator, type SocketCaller } from "./authenticator.ts";
export { type ClientSecretStore, issueClientSecret, type RealtimeGrant } from "./client-secret.ts";
export { googleToken } from "./google-token.ts";
export { type OpenAnswer, OpenAnswers } from "./open-answers.ts";
export { ownerOfProject, projectOf } from "./owner.ts";
export { absentCaller } from "./absent-caller.ts";
export { type Principal, toPrincipal } from "./principal.ts";
export { signedTokenIn } from "./presented-token.ts";
export { SessionLimit } from "./session-limit.ts";
export type { SignedCaller, SignedRequest, VerifySigned } from "./signed-callers.ts";
export {
  endImportedKey,
  findImportedKey,
  holderOf,
  insertImportedKey,
  insertToken,
  openClientSecretStore,
  openImportedKeyStore,
  openTokenStore,
  policyColumns,
  roleColumn,
  tagsColumn,
  tokens,
} from "./sql/open.ts";
export { type FoundToken, type Policy, refusalOf, type TokenRecord, type TokenStore } from "./store.ts";
export { hashOf, issueSecret, issueToken } from "./token.ts";
export { type BrowserSession, type BrowserSessionStore, SESSION_PREFIX } from "./sessions/browser-session.ts";
export { cookieFor, cookieIn, forgetCookies, setCookie } from "./sessions/cookies.ts";
export { requireOwnOrigin } from "./sessions/own-origin.ts";
export {
  browserSessions,
  deleteSignInCode,
  endSessionsOfKey,
  insertBrowserSession,
  insertSignInCode,
  openBrowserSessionStore,
  signInCodes,
} from "./sql/browser-sessions.ts";
