/** The token of a request, in one of the headers that clients use. */
import { parseClientSecret } from "./client-secret.ts";
import { isImportable } from "./imported-keys.ts";
import { isSigned } from "./signed-callers.ts";
import { parseToken } from "./token.ts";

/** A credential as it was sent, with the place that an error names. */
export interface PresentedToken {
  text: string;
  place: string;
}

const oneBearer = /^Bearer\s+\S+\s*$/i;

/** OpenAI's SDKs for Azure send `api-key`, clients of LiteLLM behind another proxy `x-litellm-api-key`, with `Bearer` or without. */
const keyHeaders = ["x-api-key", "api-key", "x-litellm-api-key"] as const;

/**
 * The first header that has the form of an accepted token: clients send a provider's key, found in their environment, beside the
 * configured one. Without any such header, the first of them as it is, `x-api-key` before `authorization`, as at Anthropic.
 */
export function presentedToken(
  headers: Headers,
  signed: boolean,
  offered?: PresentedToken,
): PresentedToken | undefined {
  if (offered !== undefined && isAccepted(offered.text, signed)) return offered;
  let first = offered;
  for (const place of keyHeaders) {
    const text = keyIn(headers, place);
    if (text === "") continue;
    if (isAccepted(text, signed)) return { text, place };
    first ??= { text, place };
  }
  const bearer = bearerOf(headers);
  if (bearer === undefined) return first;
  return first === undefined || isAccepted(bearer.text, signed) ? bearer : first;
}

/** The token of an identity provider by which a request has come in; undefined if it has none. */
export function signedTokenIn(headers: Headers): string | undefined {
  const text = presentedToken(headers, true)?.text;
  return text !== undefined && isSigned(text) ? text : undefined;
}

function keyIn(headers: Headers, place: (typeof keyHeaders)[number]): string {
  const text = headers.get(place)?.trim() ?? "";
  return place === "x-litellm-api-key" ? text.replace(/^Bearer\s+/i, "") : text;
}

function bearerOf(headers: Headers): PresentedToken | undefined {
  const authorization = headers.get("authorization") ?? "";
  if (!oneBearer.test(authorization)) return undefined;
  return { text: authorization.slice("Bearer ".length).trim(), place: "authorization" };
}

/** All texts of a request that have the form of an imported key, the chosen one first. */
export function importableIn(headers: Headers, chosen: PresentedToken): PresentedToken[] {
  const inHeaders = keyHeaders.map((place) => ({ text: keyIn(headers, place), place }));
  const bearer = bearerOf(headers);
  const all = [chosen, ...inHeaders, ...(bearer === undefined ? [] : [bearer])];
  const unique = new Map(all.filter(({ text }) => isImportable(text)).map((each) => [each.text, each]));
  return [...unique.values()];
}

function isAccepted(text: string, signed: boolean): boolean {
  return parseToken(text) !== undefined || parseClientSecret(text) !== undefined || (signed && isSigned(text));
}
