/** The part of the configuration for callers who present a signed token of somebody else: who signs, and who may come in. */
import { z } from "zod";
import { roles } from "../core/index.ts";
import { fromText } from "./values/from-text.ts";
import { duration } from "./values/units.ts";

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** Whether keys and names may be read from there: nobody on the way may change them. */
export function isTrustedOrigin({ protocol, hostname }: URL): boolean {
  return protocol === "https:" || (protocol === "http:" && LOOPBACK.has(hostname));
}

function isIssuer(text: string): boolean {
  if (!URL.canParse(text) || /[?#]/.test(text)) return false;
  const url = new URL(text);
  return isTrustedOrigin(url) && url.username === "" && url.password === "";
}

/**
 * Issuers that sign tokens for anybody: a token of theirs does not prove that its subject belongs to the operator's company. Those of
 * Microsoft sign for all of its tenants. Read in the documentation of each: GitHub Actions, GitLab, Google, Microsoft, Apple, Buildkite, HCP Terraform, Vercel, Slack, LinkedIn.
 */
const PUBLIC_ISSUERS: readonly RegExp[] = [
  /^token\.actions\.githubusercontent\.com(?:\/|$)/,
  /^gitlab\.com$/,
  /^accounts\.google\.com$/,
  /^login\.microsoftonline\.com\/(?:common|organizations|consumers|9188040d-6c67-4c5b-b112-36a304b66dad)(?:\/|$)/,
  /^appleid\.apple\.com$/,
  /^agent\.buildkite\.com$/,
  /^app\.terraform\.io$/,
  /^oidc\.vercel\.com$/,
  /^slack\.com$/,
  /^www\.linkedin\.com(?:\/|$)/,
];

function servesEverybody(issuer: string): boolean {
  const { host, pathname } = new URL(issuer);
  const place = `${host}${pathname}`.toLowerCase().replace(/\/+$/, "");
  return PUBLIC_ISSUERS.some((pattern) => pattern.test(place));
}

const list = (item: z.ZodString) => z.union([item, z.array(item).min(1).max(100)]);

const claim = z.string().min(1).max(256);

/** Claims that are the same for all callers of an issuer restrict none of them. */
const SAME_FOR_ALL: ReadonlySet<string> = new Set(["iss", "aud"]);

function restricts(require: Readonly<Record<string, string | readonly string[]>>): boolean {
  return Object.entries(require).some(
    ([name, globs]) => !SAME_FOR_ALL.has(name) && [globs].flat().every((glob) => /[^*]/.test(glob)),
  );
}

/** The meaning of claims, as of each way of naming a caller. */
const claimNames = {
  user: claim.prefault("sub").describe("Names a user who is made at first sight."),
  organisation: claim.optional().describe("Names the organisation of such a user, which must exist."),
};

const people = {
  require: z
    .record(claim, list(z.string().min(1).max(1_000)))
    .prefault({})
    .describe("Globs that claims must match. Needed for issuers that serve everybody."),
  roles: z
    .record(z.string().min(1).max(256), z.enum(roles))
    .prefault({})
    .describe("Roles by the value of the role's claim; the first of these that it has counts. Unset: member."),
  organisation: z
    .string()
    .regex(/^[\w.@+-]{1,128}$/, "letters, digits and . _ @ + - only, at most 128")
    .optional()
    .describe("The organisation of users who are made at first sight, unless a claim names it. It must exist."),
  create: fromText(z.boolean())
    .prefault(false)
    .describe("Whether an unknown caller gets a user. Unset: only those that an owner has bound to a user."),
};

interface Trusted {
  issuer: string;
  require: Readonly<Record<string, string | readonly string[]>>;
}

const isRestricted = ({ issuer: url, require }: Trusted): boolean => !servesEverybody(url) || restricts(require);
const notRestricted = {
  path: ["require"],
  error:
    "this issuer signs tokens for everybody: require a claim that only yours have, such as repository_owner, hd or tid",
};

const issuer = z
  .strictObject({
    name: z
      .string()
      .regex(/^[A-Za-z0-9][\w.-]{0,63}$/, "a name of letters, digits, '_', '-' and '.'")
      .describe("For the audit log and the tokens of its users."),
    issuer: z
      .string()
      .refine(isIssuer, "an https URL without user, password, query and fragment; http on loopback alone")
      .describe("The claim iss, exactly as it is. Its keys are found by /.well-known/openid-configuration below it."),
    audience: list(z.string().min(1).max(1_000)).describe("Values of the claim aud; it must contain one of them."),
    claims: z
      .strictObject({
        ...claimNames,
        role: claim.optional().describe("Has the keys of roles: a text, or a list of them."),
      })
      .prefault({})
      .describe("Names of claims; dots lead into objects, as in realm_access.roles."),
    ...people,
  })
  .refine(isRestricted, notRestricted)
  .refine(({ claims, roles: given }) => (claims.role === undefined) === (Object.keys(given).length === 0), {
    path: ["roles"],
    error: "claims.role and roles need each other",
  });

/** A sign-in of browsers by OpenID Connect. */
const signIn = z
  .strictObject({
    issuer: z
      .string()
      .refine(isIssuer, "an https URL without user, password, query and fragment; http on loopback alone")
      .describe("The OpenID Provider; its document is at /.well-known/openid-configuration below it."),
    client_id: z.string().min(1).max(1_000),
    client_secret: z.string().min(1).max(1_000).optional().describe("Unset: a public client, by PKCE alone."),
    scopes: z
      .array(z.string().regex(/^[!#-[\]-~]{1,100}$/))
      .max(50)
      .refine((all) => all.includes("openid"), "openid is needed")
      .prefault(["openid", "profile", "email"]),
    claims: z
      .strictObject({
        ...claimNames,
        groups: claim.optional().describe("Has the keys of roles: a text, or a list of them."),
      })
      .prefault({})
      .describe("Names of claims; dots lead into objects, as in realm_access.roles.")
      .transform(({ groups, ...names }) => ({ ...names, role: groups })),
    ...people,
  })
  .refine(isRestricted, notRestricted)
  .refine(({ claims, roles: given }) => (claims.role === undefined) === (Object.keys(given).length === 0), {
    path: ["roles"],
    error: "claims.groups and roles need each other",
  });

export const auth = z
  .strictObject({
    issuers: z
      .array(issuer)
      .max(50)
      .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, "each name once")
      .refine((all) => new Set(all.map(({ issuer: url }) => url)).size === all.length, "each issuer once")
      .prefault([])
      .describe("Issuers of JSON Web Tokens that callers may present in place of a token of the gateway."),
    sign_in: z
      .record(z.string().regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "a name of small letters, digits and '-'"), signIn)
      .prefault({})
      .describe("Sign-ins to the console by OpenID Connect; browsers come back to /console/sign-in/{name}/callback."),
    sessions: z
      .strictObject({
        idle: duration.prefault("2h").describe("A browser's session ends after this time without a request."),
        max: duration.prefault("12h").describe("It ends after this time whatever it does."),
      })
      .prefault({})
      .describe("Sessions of browsers that have signed in to the console."),
  })
  .prefault({})
  .describe("Callers without a token of the gateway.");

export type IssuerConfig = z.output<typeof issuer>;
export type SignInConfig = z.output<typeof signIn>;
/** How claims become a user and a role. */
export type ClaimSettings = Pick<IssuerConfig, "claims" | "require" | "roles" | "organisation" | "create">;
