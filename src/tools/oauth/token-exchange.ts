import * as oauth from "openid-client";
import { type Clock, GatewayError } from "../../core/index.ts";
import type { Outbound } from "../../outbound/index.ts";
import type { ExchangedToken } from "../connections/exchange-access.ts";
import { proofOf } from "./client-proof.ts";
import { guardedFetch, TIMEOUT_MS } from "./guarded-fetch.ts";

const GRANT = "urn:ietf:params:oauth:grant-type:token-exchange";
const TYPES = "urn:ietf:params:oauth:token-type:";

interface ExchangeSettings {
  token_url: string;
  client_id: string;
  client_secret?: string | undefined;
  audience?: string | undefined;
  scopes?: readonly string[] | undefined;
}

export interface TokenExchangeOptions {
  /** For messages: the name of the server. */
  name: string;
  /** Of the server of tools. */
  url: string;
  settings: ExchangeSettings;
  outbound: Pick<Outbound, "fetch">;
  clock: Clock;
}

/** Exchanges signed tokens of callers for tokens of one server (RFC 8693). */
export class TokenExchange {
  readonly #options: TokenExchangeOptions;
  readonly #configuration: oauth.Configuration;

  constructor(options: TokenExchangeOptions) {
    this.#options = options;
    const { token_url: endpoint, client_id: id, client_secret: secret } = options.settings;
    const proof = proofOf({ id, secret, method: secret === undefined ? "none" : "client_secret_basic" });
    const server = { issuer: new URL(endpoint).origin, token_endpoint: endpoint };
    this.#configuration = new oauth.Configuration(server, id, {}, proof);
    this.#configuration.timeout = TIMEOUT_MS / 1_000;
    this.#configuration[oauth.customFetch] = (url, { headers, body }) =>
      guardedFetch(options.outbound, url, {
        method: "POST",
        headers: new Headers(headers),
        ...(body instanceof URLSearchParams && { body: body.toString() }),
      });
    // The operator has chosen one on this machine, by plain HTTP.
    // oxlint-disable-next-line typescript/no-deprecated -- as above
    if (endpoint.startsWith("http:")) oauth.allowInsecureRequests(this.#configuration);
  }

  /** Rejects with a `GatewayError`: 403 if the provider does not exchange the token, 502 while it cannot be reached. */
  async exchange(signedToken: string): Promise<ExchangedToken> {
    const { name, url, settings, clock } = this.#options;
    const { audience, scopes } = settings;
    try {
      const tokens = await oauth.genericGrantRequest(this.#configuration, GRANT, {
        subject_token: signedToken,
        subject_token_type: `${TYPES}jwt`,
        requested_token_type: `${TYPES}access_token`,
        ...(audience === undefined ? { resource: url } : { audience }),
        ...(scopes !== undefined && { scope: scopes.join(" ") }),
      });
      const { access_token: access, expires_in: seconds } = tokens;
      if (!/^[\x21-\x7e]+$/.test(access)) throw new Error("the access token is not valid as a header");
      return { access, expiresAt: seconds === undefined ? undefined : clock() + seconds * 1_000 };
    } catch (cause) {
      if (cause instanceof oauth.ResponseBodyError && cause.status < 500)
        throw new GatewayError("connection_required", `The identity provider gives no token for the server ${name}.`, {
          cause,
        });
      throw new GatewayError("upstream_unreachable", `The identity provider of the server ${name} cannot be reached.`, {
        cause,
      });
    }
  }
}
