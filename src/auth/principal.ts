import { type RateLimits, type Role, roleOfToken } from "../core/index.ts";
import type { FoundToken, TokenRecord } from "./store.ts";

/** The authenticated caller. The same object is used as long as its token is cached. */
export interface Principal {
  tokenId: string;
  /** The id of its user, who owns the records of its calls. */
  user: string;
  /** The present name of its user; undefined for the id. */
  userName?: string | undefined;
  accountId: string;
  service: boolean;
  /** Of the token: its user's, or a lesser one. */
  role: Role;
  /** The id of its user's organisation. */
  organisation?: string | undefined;
  models: readonly string[] | undefined;
  /** Globs of names of tools, those that begin with `!` are exceptions; undefined for all. */
  tools?: readonly string[] | undefined;
  /** Undefined if no rate limit applies. */
  rates: Readonly<RateLimits> | undefined;
  /** The factor on prices in millionths, in place of the configuration's; undefined for that. */
  markup?: number | undefined;
  /** Milliseconds since the epoch; undefined if the token never expires. */
  expiresAt: number | undefined;
}

export function toPrincipal(token: FoundToken): Principal {
  return {
    tokenId: token.id,
    user: token.user,
    userName: token.userName,
    accountId: token.accountId,
    service: token.service,
    role: roleOfToken(token.userRole ?? "member", token.role),
    organisation: token.organisation,
    models: token.models,
    ...(token.tools && { tools: token.tools }),
    rates: ratesOf(token),
    markup: token.markup,
    expiresAt: token.expiresAt,
  };
}

function ratesOf({ rpm, tpm, concurrency }: TokenRecord): RateLimits | undefined {
  if (rpm === undefined && tpm === undefined && concurrency === undefined) return undefined;
  return {
    ...(rpm === undefined ? {} : { requestsPerMinute: rpm }),
    ...(tpm === undefined ? {} : { tokensPerMinute: tpm }),
    ...(concurrency === undefined ? {} : { concurrentCalls: concurrency }),
  };
}
