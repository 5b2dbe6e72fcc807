import { type RateLimits, type Role, roleOfToken } from "../core/index.ts";
import type { SessionFacts } from "./sessions/browser-session.ts";
import type { FoundToken, Policy } from "./store.ts";

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
  /** The keys of the tags that its organisation declares, sorted; undefined for none. */
  tags?: readonly string[] | undefined;
  /** Values that its calls have for those keys, unless the call names its own. */
  metadata?: Readonly<Record<string, string>> | undefined;
  /** Globs of model ids; undefined for all. */
  models: readonly string[] | undefined;
  /** Further lists, of which a model has to match each as well: those of the levels above. */
  modelsAbove?: readonly (readonly string[])[] | undefined;
  /** Globs of names of tools, those that begin with `!` are exceptions; undefined for all. */
  tools?: readonly string[] | undefined;
  /** Further lists, which have to permit a tool as well. */
  toolsAbove?: readonly (readonly string[])[] | undefined;
  /** Those of the token; undefined if it has none. */
  rates: Readonly<RateLimits> | undefined;
  /** Those of its user and of their organisation; undefined if neither has any. */
  ratesAbove?: readonly Readonly<RateLimits>[] | undefined;
  /** The factor on prices in millionths, in place of the configuration's; undefined for that. */
  markup?: number | undefined;
  /** When the token, its user or their organisation expires, in milliseconds since the epoch; undefined for never. */
  expiresAt: number | undefined;
  /** Of a caller with a token that somebody else has signed: when that is no longer accepted. */
  signedUntil?: number | undefined;
  /** Of a caller with a browser's session in place of a token. */
  session?: SessionFacts | undefined;
  /** The id of the call that has been counted as a request, for its parts: see `Hold.isPart`. */
  partOf?: string | undefined;
}

export function toPrincipal(token: FoundToken): Principal {
  const principal: Principal = {
    tokenId: token.id,
    user: token.user,
    userName: token.userName,
    accountId: token.accountId,
    service: token.service,
    role: roleOfToken(token.userRole ?? "member", token.role),
    organisation: token.organisation,
    models: token.models,
    ...(token.tools && { tools: token.tools }),
    ...(token.tags && { tags: token.tags }),
    ...(token.metadata && { metadata: token.metadata }),
    rates: ratesOf(token),
    markup: token.markup,
    expiresAt: token.expiresAt,
  };
  return token.above === undefined ? principal : { ...principal, ...narrowed(token, token.above) };
}

/** The members that the policies above a token change. Each narrows: the token may do what all of them permit. */
function narrowed(token: FoundToken, above: readonly Policy[]): Partial<Principal> {
  const levels = [token, ...above];
  const [models, ...modelsAbove] = levels.flatMap((level) => (level.models === undefined ? [] : [level.models]));
  const [tools, ...toolsAbove] = levels.flatMap((level) => (level.tools === undefined ? [] : [level.tools]));
  const ends = levels.flatMap(({ expiresAt }) => expiresAt ?? []);
  const rates = above.map((policy) => ratesOf(policy) ?? {});
  return {
    models,
    ...(modelsAbove.length > 0 && { modelsAbove }),
    ...(tools && { tools }),
    ...(toolsAbove.length > 0 && { toolsAbove }),
    // A service's account has none above it, which could count its calls.
    ...(!token.service && above.some((policy) => ratesOf(policy) !== undefined) && { ratesAbove: rates }),
    expiresAt: ends.length === 0 ? undefined : Math.min(...ends),
  };
}

function ratesOf({ rpm, tpm, concurrency }: Policy): RateLimits | undefined {
  if (rpm === undefined && tpm === undefined && concurrency === undefined) return undefined;
  return {
    ...(rpm === undefined ? {} : { requestsPerMinute: rpm }),
    ...(tpm === undefined ? {} : { tokensPerMinute: tpm }),
    ...(concurrency === undefined ? {} : { concurrentCalls: concurrency }),
  };
}
