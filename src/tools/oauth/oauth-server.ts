/** A server of tools whose users sign in at its authorization server (OAuth 2.1 with PKCE, RFC 8707, RFC 9207). */
import * as oauth from "openid-client";
import { type Clock, GatewayError, listOf } from "../../core/index.ts";
import { joinedScopes } from "./challenge.ts";
import { proofOf } from "./client-proof.ts";
import { findAuthorizationServer, type FoundAuthorizationServer, issuerMetadata } from "./discovery.ts";
import { type SignInAttempt, type OAuthGrant, GrantRefused } from "./grant.ts";
import { guardedFetch, type GuardedOutbound, signInFailed, TIMEOUT_MS } from "./guarded-fetch.ts";
import type { ClientRegistrations } from "./registrations.ts";
import {
  clientMethod,
  CLIENT_METADATA_PATH,
  type OAuthClient,
  redirectUri,
  register,
  takesMetadataAddress,
} from "./registration.ts";
import { withoutSlashes } from "./without-slashes.ts";

/** How long the metadata of an authorization server is used. */
const FRESH_MS = 10 * 60_000;

/** Authorization servers whose metadata is remembered. */
const ISSUERS_MAX = 20;

/** Errors of the token endpoint that stay the same at another try. */
const REFUSALS: ReadonlySet<string> = new Set([
  "invalid_grant",
  "unauthorized_client",
  "invalid_client",
  "access_denied",
]);

const HEADER_VALUE = /^[\x21-\x7e]+$/;

interface OAuthSettings {
  /** The only authorization server that is used; undefined for the one that the server of tools names. */
  issuer?: string | undefined;
  client_id?: string | undefined;
  client_secret?: string | undefined;
  scopes?: readonly string[] | undefined;
}

export interface OAuthServerOptions {
  name: string;
  /** Of the server of tools. */
  url: string;
  settings: OAuthSettings;
  /** The address for callers, without a slash at its end. */
  publicUrl: string;
  outbound: GuardedOutbound;
  registrations: ClientRegistrations;
  /** Whether the authorization server with this issuer is the first one that was seen, or approved since. */
  confirmIssuer: (issuer: string) => Promise<boolean>;
  clock: Clock;
}

type BegunSignIn = Omit<SignInAttempt, "browser" | "tokenId">;

export class OAuthServer {
  readonly #options: OAuthServerOptions;
  readonly #known = new Map<string, { metadata: FoundAuthorizationServer["metadata"]; at: number }>();

  constructor(options: OAuthServerOptions) {
    this.#options = options;
  }

  /**
   * The page of the authorization server, and the facts that are needed when the browser comes back. `wanted`: further scopes. Rejects with a
   * `GatewayError` (502).
   */
  async begin(wanted: string | undefined): Promise<{ url: string; state: string; begun: BegunSignIn }> {
    const { name, settings, publicUrl } = this.#options;
    const found = await findAuthorizationServer(this.#options);
    const { metadata, resource } = found;
    const foreign = await this.#foreign(metadata.issuer);
    if (foreign !== undefined) throw signInFailed(name, foreign);
    this.#remember(metadata);
    const offersOffline = (listOf(metadata["scopes_supported"]) ?? []).includes("offline_access");
    const asked = settings.scopes === undefined ? found.scope : settings.scopes.join(" ");
    const scope = joinedScopes(asked, wanted, offersOffline ? "offline_access" : undefined);
    try {
      const client = await this.#clientOf(metadata, scope);
      const verifier = oauth.randomPKCECodeVerifier();
      const state = oauth.randomState();
      const url = oauth.buildAuthorizationUrl(this.#configuration(metadata, client), {
        redirect_uri: redirectUri(publicUrl),
        state,
        resource,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        ...(scope !== undefined && { scope }),
        // Some give a refresh token with a new consent alone.
        ...(offersOffline && { prompt: "consent" }),
      });
      return { url: url.href, state, begun: { verifier, issuer: metadata.issuer, resource, client, scope } };
    } catch (thrown) {
      throw signInFailed(name, thrown instanceof Error ? thrown.message : "it cannot be reached", thrown);
    }
  }

  /** The grant, after the browser has come back with this query. Rejects with a `GatewayError`: 401 if the answer is not accepted. */
  async finish(query: string, state: string, begun: BegunSignIn): Promise<OAuthGrant> {
    const { name, publicUrl, registrations } = this.#options;
    const answered = new URL(redirectUri(publicUrl));
    answered.search = query;
    const { issuer, client, resource, scope, verifier } = begun;
    const foreign = await this.#foreign(issuer);
    if (foreign !== undefined) throw signInFailed(name, foreign);
    try {
      const configuration = this.#configuration(await this.#metadataOf(issuer), client);
      const checks = { expectedState: state, pkceCodeVerifier: verifier };
      const tokens = await oauth.authorizationCodeGrant(configuration, answered, checks, { resource });
      return this.#grantOf(tokens, { issuer, client, resource, scope });
    } catch (thrown) {
      if (errorCodeOf(thrown) === "invalid_client") await registrations.forget(issuer);
      const problem =
        thrown instanceof oauth.AuthorizationResponseError && thrown.error === "access_denied"
          ? "it was not permitted"
          : "its answer is not accepted";
      throw new GatewayError("invalid_token", `The sign-in at the server ${name} has failed: ${problem}.`, {
        cause: thrown,
      });
    }
  }

  /** A new access token. Rejects with a `GrantRefused`, or with a `GatewayError` while the authorization server cannot be reached. */
  async refresh(grant: OAuthGrant): Promise<OAuthGrant> {
    const { name, registrations } = this.#options;
    const { refresh, issuer, client, resource } = grant;
    if (refresh === undefined) throw new GrantRefused("there is no refresh token");
    const foreign = await this.#foreign(issuer);
    if (foreign !== undefined) throw new GrantRefused(foreign);
    try {
      const configuration = this.#configuration(await this.#metadataOf(issuer), client);
      return this.#grantOf(await oauth.refreshTokenGrant(configuration, refresh, { resource }), grant);
    } catch (thrown) {
      const code = errorCodeOf(thrown);
      if (code === "invalid_client") await registrations.forget(issuer);
      if (code === "invalid_client" && this.#isConfigured(client))
        throw new GatewayError("provider_key_refused", `The authorization server of ${name} refuses the gateway.`, {
          cause: thrown,
        });
      if (code !== undefined && REFUSALS.has(code)) throw new GrantRefused(code, { cause: thrown });
      throw new GatewayError("upstream_unreachable", `The authorization server of ${name} cannot be reached.`, {
        cause: thrown,
      });
    }
  }

  /** Lets the authorization server forget the tokens (RFC 7009), if it can do that. Rejects if it does not. */
  async revoke({ issuer, client, access, refresh }: OAuthGrant): Promise<void> {
    const metadata = await this.#metadataOf(issuer);
    if (metadata["revocation_endpoint"] === undefined) return;
    const foreign = await this.#foreign(issuer);
    if (foreign !== undefined) throw new GrantRefused(foreign);
    await oauth.tokenRevocation(this.#configuration(metadata, client), refresh ?? access);
  }

  /**
   * Why an authorization server is not asked; undefined if it may be. A server of tools that names another one could get the configured
   * secret with that.
   */
  async #foreign(issuer: string): Promise<string | undefined> {
    const { settings, confirmIssuer } = this.#options;
    const named = withoutSlashes(issuer);
    if (settings.issuer !== undefined)
      return settings.issuer === named ? undefined : "it names another authorization server than the configuration";
    if (settings.client_secret === undefined || (await confirmIssuer(named))) return undefined;
    return "it names another authorization server than before, which waits for the operator's approval";
  }

  #grantOf(
    tokens: oauth.TokenEndpointResponse,
    before: Pick<OAuthGrant, "issuer" | "client" | "resource" | "scope"> & { refresh?: string | undefined },
  ): OAuthGrant {
    const { access_token: access, refresh_token: refresh = before.refresh, expires_in: seconds, scope } = tokens;
    if (!HEADER_VALUE.test(access)) throw new Error("the access token is not valid as a header");
    const { issuer, client, resource } = before;
    return {
      issuer,
      client,
      resource,
      access,
      refresh,
      scope: scope ?? before.scope,
      expiresAt: seconds === undefined ? undefined : this.#options.clock() + seconds * 1_000,
    };
  }

  /** The configured client, else the address of the gateway's metadata, else a registration. */
  async #clientOf(metadata: FoundAuthorizationServer["metadata"], scope: string | undefined): Promise<OAuthClient> {
    const { settings, publicUrl, outbound, registrations } = this.#options;
    const { client_id: id, client_secret: secret } = settings;
    if (id !== undefined) return { id, secret, method: clientMethod(metadata, secret !== undefined) };
    if (takesMetadataAddress(metadata, publicUrl)) return { id: publicUrl + CLIENT_METADATA_PATH, method: "none" };
    const known = await registrations.find(metadata.issuer);
    if (known !== undefined) return known;
    const made = await register({ outbound, metadata, publicUrl, scope });
    await registrations.keep(metadata.issuer, made);
    // Another process may have been faster.
    return (await registrations.find(metadata.issuer)) ?? made;
  }

  #configuration(metadata: FoundAuthorizationServer["metadata"], client: OAuthClient): oauth.Configuration {
    // The operator may have replaced the secret since.
    const secret = this.#isConfigured(client) ? this.#options.settings.client_secret : client.secret;
    const proof = proofOf({ ...client, secret });
    const configuration = new oauth.Configuration(serverMetadataOf(metadata), client.id, {}, proof);
    configuration.timeout = TIMEOUT_MS / 1_000;
    configuration[oauth.customFetch] = (url, { method: verb, headers, body }) =>
      guardedFetch(this.#options.outbound, url, {
        method: verb === "POST" ? "POST" : "GET",
        headers: new Headers(headers),
        ...(body instanceof URLSearchParams && { body: body.toString() }),
      });
    // Each address was checked: this is for one on this machine, by plain HTTP.
    // oxlint-disable-next-line typescript/no-deprecated -- as above
    if (metadata.token_endpoint.startsWith("http:")) oauth.allowInsecureRequests(configuration);
    return configuration;
  }

  #isConfigured({ id }: OAuthClient): boolean {
    return this.#options.settings.client_id === id;
  }

  async #metadataOf(issuer: string): Promise<FoundAuthorizationServer["metadata"]> {
    const known = this.#known.get(issuer);
    const age = known === undefined ? Infinity : this.#options.clock() - known.at;
    if (known !== undefined && age >= 0 && age < FRESH_MS) return known.metadata;
    const metadata = await issuerMetadata(this.#options.outbound, issuer);
    this.#remember(metadata);
    return metadata;
  }

  #remember(metadata: FoundAuthorizationServer["metadata"]): void {
    if (this.#known.size >= ISSUERS_MAX) this.#known.clear();
    this.#known.set(metadata.issuer, { metadata, at: this.#options.clock() });
  }
}

/** The members that are read, and were checked. */
function serverMetadataOf(metadata: FoundAuthorizationServer["metadata"]): oauth.ServerMetadata {
  const { issuer, authorization_endpoint, token_endpoint, revocation_endpoint: revocation } = metadata;
  const namesIssuer = metadata["authorization_response_iss_parameter_supported"] === true;
  return {
    issuer,
    authorization_endpoint,
    token_endpoint,
    ...(typeof revocation === "string" && { revocation_endpoint: revocation }),
    authorization_response_iss_parameter_supported: namesIssuer,
  };
}

/** The error that the token endpoint has answered with; undefined for a failure of any other kind. */
function errorCodeOf(thrown: unknown): string | undefined {
  const cause = thrown instanceof oauth.ResponseBodyError ? thrown : thrown instanceof Error ? thrown.cause : undefined;
  return cause instanceof oauth.ResponseBodyError ? cause.error : undefined;
}
