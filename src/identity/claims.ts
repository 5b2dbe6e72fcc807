/** The meaning of the claims of a verified token. */
import type { ClaimSettings } from "../config/index.ts";
import { GatewayError, matchesGlob, objectOf, type Role } from "../core/index.ts";

export type Claims = Readonly<Record<string, unknown>>;

/** The value of a claim, whose name may have dots itself: https://acme.com/roles, realm_access.roles. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) {
    const object = objectOf(value);
    if (object === undefined || !Object.hasOwn(object, part)) return undefined;
    value = object[part];
  }
  return value;
}

/** The texts of a claim; numbers and booleans as in JSON. */
function textsOf(value: unknown): string[] {
  return [value].flat().flatMap((each) => {
    if (typeof each === "string") return [each];
    return typeof each === "number" || typeof each === "boolean" ? [String(each)] : [];
  });
}

/** The single text of a claim. */
function textAt(claims: Claims, name: string): string | undefined {
  const [text, another] = textsOf(claimAt(claims, name));
  return another === undefined && text !== "" ? text : undefined;
}

/** Throws a 401 that names the claim which does not match its requirement. */
export function requireClaims({ require }: Pick<ClaimSettings, "require">, claims: Claims): void {
  for (const [name, wanted] of Object.entries(require)) {
    const texts = textsOf(claimAt(claims, name));
    if (![wanted].flat().some((glob) => texts.some((text) => matchesGlob(glob, text)))) throw refusedClaim(name);
  }
}

/** A role comes through the configured ones alone, of which the first counts. */
export function roleOf({ claims: { role: name }, roles }: ClaimSettings, claims: Claims): Role {
  if (name === undefined) return "member";
  const texts = new Set(textsOf(claimAt(claims, name)));
  return Object.entries(roles).find(([value]) => texts.has(value))?.[1] ?? "member";
}

const NAME_CHARACTERS_MAX = 128;

/** The name and the organisation of a user who is made at first sight; undefined if nobody is. */
export function newUserOf(
  issuer: ClaimSettings,
  claims: Claims,
): { name: string; organisation: string | undefined } | undefined {
  if (!issuer.create) return undefined;
  const { user, organisation: place } = issuer.claims;
  // An unverified address may be another person's: the caller would get the name of a user who does not exist yet.
  if (user === "email" && String(claims["email_verified"]) === "false") throw refusedClaim("email_verified");
  const text = textAt(claims, user);
  if (text === undefined || text.length > NAME_CHARACTERS_MAX) throw refusedClaim(user);
  const organisation = place === undefined ? undefined : textAt(claims, place);
  // Names have no such characters as / and :, of which the subjects of workflows consist.
  return { name: text.replaceAll(/[^\w.@+-]/g, "-"), organisation: organisation ?? issuer.organisation };
}

const SUBJECT_CHARACTERS_MAX = 1_000;

/** Throws a 401 for a subject that no storage keeps as it is. */
export function subjectOf({ sub: subject = "" }: { sub?: string | undefined }): string {
  if (subject === "" || subject.length > SUBJECT_CHARACTERS_MAX || !subject.isWellFormed() || subject.includes("\0"))
    throw refusedClaim("sub");
  return subject;
}

function refusedClaim(name: string): GatewayError {
  return new GatewayError("invalid_token", `The claim ${name} of the token is not accepted.`);
}
