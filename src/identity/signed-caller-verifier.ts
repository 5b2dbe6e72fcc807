/** Verifies the JSON Web Tokens (RFC 7519) of configured issuers, and finds who presents them. */
import { decodeJwt, errors, type JWTPayload, jwtVerify } from "jose";
import { type AccountsDependencies, signIn } from "../accounts/index.ts";
import type { SignedCaller, SignedRequest } from "../auth/index.ts";
import type { IssuerConfig } from "../config/index.ts";
import { type Clock, GatewayError } from "../core/index.ts";
import type { Outbound } from "../outbound/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { newUserOf, requireClaims, roleOf, subjectOf } from "./claims.ts";
import { IssuerKeys, tenantTemplate } from "./issuer-keys.ts";

/**
 * Asymmetric ones alone (RFC 8725, 3.1): who may verify can't sign. The header of a token chooses among them, and its key has to be of
 * the kind that the algorithm needs.
 */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];

/** How far the clocks of an issuer and of the gateway may differ. */
const CLOCK_SECONDS = 60;

/** The types of a token that may be presented (RFC 9068); others, such as logout+jwt, are for other uses. */
const TYPES = /^(?:application\/)?(?:jwt|at\+jwt)$/i;

export interface SignedCallerOptions {
  issuers: readonly IssuerConfig[];
  /** May reach the host of the issuer, wherever that is. */
  outboundTo: (issuer: IssuerConfig) => Pick<Outbound, "fetch">;
  accounts: AccountsDependencies;
  addressOf: (request: Request) => string | undefined;
  clock: Clock;
  logger: Logger;
}

interface Issuer {
  config: IssuerConfig;
  keys: IssuerKeys;
}

export class SignedCallerVerifier {
  readonly #options: SignedCallerOptions;
  readonly #issuers: readonly Issuer[];

  constructor(options: SignedCallerOptions) {
    const { issuers, outboundTo, clock, logger } = options;
    this.#options = options;
    this.#issuers = issuers.map((config) => {
      const { issuer, name } = config;
      return { config, keys: new IssuerKeys({ issuer, name, outbound: outboundTo(config), clock, logger }) };
    });
  }

  /** See `VerifySigned`. Users who are made at first sight are bound to issuer and subject, which nobody else gets. */
  async verify(text: string, from: SignedRequest): Promise<SignedCaller> {
    const named = issuerIn(text);
    const issuer = this.#issuers.find(({ config }) => isOf(config.issuer, named));
    if (named === undefined || issuer === undefined)
      throw refused("The token is neither one of this gateway nor of an issuer that it knows.");
    const { config } = issuer;
    const claims = await this.#claimsOf(issuer, text, named);
    const { exp = 0 } = claims;
    const subject = subjectOf(claims);
    requireClaims(config, claims);
    const newUser = () => newUserOf(config, claims);
    const tokenId = await signIn(this.#actsAs(config, from), { issuer: named, subject, name: config.name, newUser });
    return { tokenId, role: roleOf(config, claims), expiresAt: (exp + CLOCK_SECONDS) * 1_000 };
  }

  async #claimsOf({ config, keys }: Issuer, text: string, issuer: string): Promise<JWTPayload> {
    const { audience } = config;
    try {
      const { payload, protectedHeader } = await jwtVerify(text, keys.find, {
        algorithms: ALGORITHMS,
        audience,
        issuer,
        clockTolerance: CLOCK_SECONDS,
        currentDate: new Date(this.#options.clock()),
        requiredClaims: ["exp", "sub"],
      });
      const { typ } = protectedHeader;
      const onlyIssuer = keys.issuerOfKey(protectedHeader);
      const isOfTenant =
        tenantTemplate(config.issuer) === undefined || onlyIssuer === undefined || isOf(onlyIssuer, issuer);
      if ((typ !== undefined && !TYPES.test(typ)) || !isOfTenant) throw refused("The token is for another use.");
      return payload;
    } catch (reason) {
      throw refusalOf(reason);
    }
  }

  #actsAs({ name }: IssuerConfig, { request, requestId }: SignedRequest): AccountsDependencies {
    const { accounts, addressOf } = this.#options;
    const address = request && addressOf(request);
    return { ...accounts, caller: { actor: { name: `issuer:${name}`, address, requestId }, role: "owner" } };
  }
}

/** The claim iss, before anything is verified: it chooses the keys. */
function issuerIn(text: string): string | undefined {
  try {
    return decodeJwt(text).iss;
  } catch {
    throw refused("The token can't be read.");
  }
}

const TENANT = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Whether a claim is of the issuer; one of Microsoft's for several tenants has each tenant's id in place of the placeholder. */
function isOf(issuer: string, named: string | undefined): boolean {
  if (named === undefined) return false;
  if (issuer === named) return true;
  const [before = "", after] = (tenantTemplate(issuer) ?? issuer).split("{tenantid}");
  if (after === undefined || !named.startsWith(before) || !named.endsWith(after)) return false;
  return TENANT.test(named.slice(before.length, named.length - after.length));
}

/** The refusal of a token: it names the check that has failed, and has nothing that the token contains. */
function refusalOf(reason: unknown): unknown {
  if (reason instanceof errors.JWTExpired) return new GatewayError("token_expired", "The token has expired.");
  if (reason instanceof errors.JWTClaimValidationFailed)
    return refused(`The claim ${CLAIMS.has(reason.claim) ? reason.claim : "set"} of the token is not accepted.`);
  if (reason instanceof errors.JOSEAlgNotAllowed) return refused("The token's algorithm is not accepted.");
  if (reason instanceof errors.JWKSNoMatchingKey || reason instanceof errors.JWKSMultipleMatchingKeys)
    return refused("The token names none of its issuer's keys.");
  return reason instanceof errors.JOSEError ? refused("The token's signature is not valid.") : reason;
}

const CLAIMS: ReadonlySet<string> = new Set(["iss", "aud", "sub", "exp", "nbf", "iat"]);

function refused(message: string): GatewayError {
  return new GatewayError("invalid_token", message);
}
