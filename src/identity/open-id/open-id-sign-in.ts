/** Signs people in at an OpenID Provider: OpenID Connect Core 1.0 with PKCE (RFC 7636), Discovery 1.0, RP-Initiated Logout 1.0. */
import * as client from "openid-client";
import { isTrustedOrigin, type SignInConfig } from "../../config/index.ts";
import { type Clock, GatewayError, type Role } from "../../core/index.ts";
import type { Outbound } from "../../outbound/index.ts";
import type { Logger } from "../../telemetry/index.ts";
import { collectBody } from "../../upstream/index.ts";
import { type Claims, newUserOf, requireClaims, roleOf, subjectOf } from "../claims.ts";

/** How long a provider's document is used before it is read again, and how long none is read after a failure. */
const FRESH_MS = 10 * 60_000;
const AFTER_FAILURE_MS = 5_000;

/** How long a sign-out waits for the provider's document. */
const SIGN_OUT_MS = 1_000;

const BYTES_MAX = 1_048_576;
const TIMEOUT_MS = 10_000;

/** They are verified even though the provider itself has sent the token. */
const SIGNATURES = [client.enableNonRepudiationChecks];

/** How far the clocks of a provider and of the gateway may differ. */
const CLOCK_SECONDS = 60;

/** The age at which a sign-in is no longer a fresh one. */
const FRESH_SECONDS = 600;

/** Kept by the browser between the beginning and the end of a sign-in: nobody else can end it. */
interface BegunSignIn {
  state: string;
  nonce: string;
  verifier: string;
  /** Whether the provider had to ask again who it is. */
  isFresh: boolean;
}

/** Who has come back from the provider. */
interface SignedInPerson {
  issuer: string;
  subject: string;
  role: Role;
  /** When they have shown the provider who they are, in milliseconds since the epoch; undefined if it does not say. */
  provedAt: number | undefined;
  /** See `SignInRequest`. */
  newUser: () => ReturnType<typeof newUserOf>;
}

interface OpenIdSignInOptions {
  name: string;
  config: SignInConfig;
  /** The address to which the provider sends browsers back. */
  redirectUrl: string;
  /** Where browsers go after they have signed out at the provider. */
  signedOutUrl: string;
  outbound: Pick<Outbound, "fetch">;
  clock: Clock;
  logger: Pick<Logger, "warn" | "info">;
}

/** One provider. Its document is read when it is needed. */
export class OpenIdSignIn {
  readonly #options: OpenIdSignInOptions;
  #found: { configuration: client.Configuration; at: number } | undefined;
  #finding: Promise<client.Configuration> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(options: OpenIdSignInOptions) {
    this.#options = options;
  }

  /** The address of the provider's page. Rejects with a `GatewayError` (503) while the provider cannot be reached. */
  async begin({ isFresh }: Pick<BegunSignIn, "isFresh">): Promise<{ url: string; begun: BegunSignIn }> {
    const configuration = await this.#configuration();
    const verifier = client.randomPKCECodeVerifier();
    const begun = { state: client.randomState(), nonce: client.randomNonce(), verifier, isFresh };
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#options.redirectUrl,
      scope: this.#options.config.scopes.join(" "),
      state: begun.state,
      nonce: begun.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: "S256",
      ...(isFresh && { prompt: "login", max_age: "0" }),
    });
    return { url: url.href, begun };
  }

  /** Rejects with a `GatewayError`: 401 for an answer that is not the provider's to this browser, 503 while it cannot be reached. */
  async finish(query: string, { state, nonce, verifier, isFresh }: BegunSignIn): Promise<SignedInPerson> {
    const configuration = await this.#configuration();
    const { config, redirectUrl } = this.#options;
    const answered = new URL(redirectUrl);
    answered.search = query;
    try {
      const tokens = await client.authorizationCodeGrant(configuration, answered, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
        ...(isFresh && { maxAge: FRESH_SECONDS }),
      });
      const given = tokens.claims();
      if (given === undefined) throw refused();
      const claims = await this.#withMore(configuration, given, tokens.access_token);
      requireClaims(config, claims);
      const { iss: issuer } = given;
      return {
        issuer,
        subject: subjectOf(given),
        role: roleOf(config, claims),
        provedAt: this.#provedAt(given),
        newUser: () => newUserOf(config, claims),
      };
    } catch (reason) {
      throw this.#refusalOf(reason);
    }
  }

  /**
   * Where the browser ends its session at the provider; undefined if that has no such page, or cannot be reached at once: somebody waits
   * to see that they have signed out. A document of before will do.
   */
  async signOutUrl(): Promise<string | undefined> {
    try {
      const configuration = this.#found?.configuration ?? (await within(SIGN_OUT_MS, this.#configuration()));
      if (configuration === undefined) return undefined;
      if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined;
      return client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: this.#options.signedOutUrl }).href;
    } catch {
      return undefined;
    }
  }

  /**
   * Only `auth_time` shows it. The answer to `prompt=login` shows nothing: who sits at an open browser can take that out of the address, and
   * a provider may not obey it.
   */
  #provedAt({ auth_time: authenticated }: client.IDToken): number | undefined {
    return authenticated === undefined ? undefined : Math.min(authenticated * 1_000, this.#options.clock());
  }

  /** Providers may have claims at their userinfo endpoint alone. Those of the signed token count before them. */
  async #withMore(configuration: client.Configuration, given: client.IDToken, accessToken: string): Promise<Claims> {
    const { claims, require } = this.#options.config;
    const wanted = [claims.user, claims.role, claims.organisation, ...Object.keys(require)];
    const isWhole = wanted.every((name) => name === undefined || Object.hasOwn(given, name.split(".")[0] ?? ""));
    if (isWhole || configuration.serverMetadata().userinfo_endpoint === undefined) return given;
    return { ...(await client.fetchUserInfo(configuration, accessToken, given.sub)), ...given };
  }

  async #configuration(): Promise<client.Configuration> {
    const { clock, name, logger } = this.#options;
    const age = this.#found === undefined ? Infinity : clock() - this.#found.at;
    if (this.#found !== undefined && age >= 0 && age < FRESH_MS) return this.#found.configuration;
    if (this.#finding === undefined && clock() - this.#failedAt < AFTER_FAILURE_MS)
      return this.#found?.configuration ?? this.#unavailable();
    try {
      this.#finding ??= this.#find();
      return await this.#finding;
    } catch (reason) {
      this.#failedAt = clock();
      logger.warn({ issuer: name, reason: messageOf(reason) }, "the document of an OpenID Provider could not be read");
      return this.#found?.configuration ?? this.#unavailable();
    } finally {
      this.#finding = undefined;
    }
  }

  async #find(): Promise<client.Configuration> {
    const { config, clock } = this.#options;
    const { issuer, client_id: clientId, client_secret: secret } = config;
    const authentication = secret === undefined ? client.None() : client.ClientSecretPost(secret);
    const isLocal = issuer.startsWith("http:");
    const configuration = await client.discovery(
      new URL(issuer),
      clientId,
      { [client.clockTolerance]: CLOCK_SECONDS },
      authentication,
      {
        timeout: TIMEOUT_MS / 1_000,
        [client.customFetch]: (url, options) => this.#fetch(url, options),
        // oxlint-disable-next-line typescript/no-deprecated -- it is for this: a provider on this machine, by plain HTTP
        execute: isLocal ? [...SIGNATURES, client.allowInsecureRequests] : SIGNATURES,
      },
    );
    const { authorization_endpoint: page, end_session_endpoint: end } = configuration.serverMetadata();
    for (const address of [page, end]) if (address !== undefined) requireTrusted(address, isLocal);
    this.#found = { configuration, at: clock() };
    return configuration;
  }

  /** All requests to the provider pass the guard of addresses. */
  async #fetch(url: string, { method, headers, body }: client.CustomFetchOptions): Promise<Response> {
    requireTrusted(url, this.#options.config.issuer.startsWith("http:"));
    const sent = body instanceof URLSearchParams ? body.toString() : undefined;
    const reply = await this.#options.outbound.fetch({
      url,
      method: method === "POST" ? "POST" : "GET",
      headers: new Headers(headers),
      ...(sent !== undefined && { body: sent }),
      bytesMax: BYTES_MAX,
      timeoutMs: TIMEOUT_MS,
    });
    const collected = await collectBody(reply.body, BYTES_MAX);
    if (!("bytes" in collected)) throw new Error("its answer is too long");
    const type = reply.headers.get("content-type") ?? "";
    return new Response(new Uint8Array(collected.bytes), {
      status: reply.status,
      headers: { "content-type": type },
    });
  }

  #unavailable(): never {
    throw new GatewayError(
      "issuer_unavailable",
      `The OpenID Provider ${this.#options.name} cannot be reached. Try again.`,
      {
        retryAfterSeconds: AFTER_FAILURE_MS / 1_000,
      },
    );
  }

  /** The log has the check that has failed; the browser learns that one did. */
  #refusalOf(reason: unknown): GatewayError {
    if (reason instanceof GatewayError) return reason;
    this.#options.logger.info({ issuer: this.#options.name, reason: messageOf(reason) }, "a sign-in was refused");
    return refused();
  }
}

/** Undefined if it takes longer. */
async function within<Value>(ms: number, work: Promise<Value>): Promise<Value | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The codes of these errors, without anything that the provider or a browser has sent. */
function messageOf(reason: unknown): string {
  if (!(reason instanceof Error)) return "";
  const { code } = reason as Error & { code?: unknown };
  return typeof code === "string" ? code : reason.name;
}

function requireTrusted(address: string, mayBeLocal: boolean): void {
  const url = new URL(address);
  if (!isTrustedOrigin(url) || (url.protocol === "http:" && !mayBeLocal))
    throw new Error("an address of the provider is not behind https");
}

function refused(): GatewayError {
  return new GatewayError("invalid_token", "The answer of the OpenID Provider is not accepted: sign in again.");
}
