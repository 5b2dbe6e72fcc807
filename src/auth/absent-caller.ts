/** The caller of work that is done later, when nobody presents the token. */
import { GatewayError } from "../core/index.ts";
import { type Principal, toPrincipal } from "./principal.ts";
import { callerBySecretOf } from "./sessions/browser-sessions.ts";
import { type FoundToken, refusalOf, type TokenStore } from "./store.ts";

/**
 * The rights and limits that a token has at a time, in milliseconds since the epoch; those of a browser's session are its token's. Rejects
 * with the token's refusal, such as `token_revoked`.
 */
export async function absentCaller(
  tokens: Pick<TokenStore, "findById">,
  tokenId: string,
  at: number,
): Promise<Principal> {
  const token = await usableToken(tokens, tokenId, at);
  const own = toPrincipal(token);
  if (token.sessionOf === undefined) return own;
  const source = await usableToken(tokens, token.sessionOf, at);
  return callerBySecretOf(own, toPrincipal(source), source.id);
}

async function usableToken(tokens: Pick<TokenStore, "findById">, id: string, at: number): Promise<FoundToken> {
  const token = await tokens.findById(id);
  if (token === undefined) throw new GatewayError("token_revoked", "The token does not exist any more.");
  const refusal = refusalOf(token, at);
  if (refusal !== undefined) throw refusal;
  return token;
}
