/** Tokens that an authorization server has given for an account: renewed before they expire, by one process of all. */
import { type Clock, GatewayError } from "../../core/index.ts";
import { secretForms } from "../clean-result.ts";
import { challengeParameters, joinedScopes } from "../oauth/challenge.ts";
import { type OAuthGrant, GrantRefused, storedGrant } from "../oauth/grant.ts";
import type { ToolConnection } from "./connection.ts";
import type { Connections } from "./connections.ts";
import { ConnectionRequiredError, type UserCredentials } from "./user-access.ts";

/** A token is renewed so long before it expires. */
const EARLY_MS = 30_000;

/** How long one process may take for a renewal: longer than the request. */
const CLAIM_MS = 30_000;

/** How often a process looks whether another one has renewed. */
const LOOK_MS = 100;

export interface OAuthCredentialsOptions {
  server: string;
  connections: Connections;
  /** Rejects with a `GrantRefused`, or with a `GatewayError` while the authorization server cannot be reached. */
  refresh: (grant: OAuthGrant) => Promise<OAuthGrant>;
  clock: Clock;
  wait: (milliseconds: number) => Promise<void>;
}

export class OAuthCredentials implements UserCredentials {
  readonly #options: OAuthCredentialsOptions;
  #connection: ToolConnection;
  #grant: OAuthGrant;
  #secrets: readonly string[] = [];
  #renewing: Promise<void> | undefined;

  constructor(connection: ToolConnection, options: OAuthCredentialsOptions) {
    this.#options = options;
    this.#connection = connection;
    this.#grant = this.#open(connection);
  }

  see(connection: ToolConnection): void {
    if (connection.version > this.#connection.version) this.#grant = this.#open(connection);
  }

  secrets(): readonly string[] {
    return this.#secrets;
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    const { expiresAt, refresh } = this.#grant;
    const { clock } = this.#options;
    if (expiresAt !== undefined && refresh !== undefined && expiresAt - EARLY_MS <= clock()) await this.#renew();
    return { authorization: `Bearer ${this.#grant.access}` };
  }

  /** A 401 is answered by a renewal; a 403 for want of scopes by the owner alone, at the next sign-in. */
  async refused({
    status,
    challenge,
    headers,
  }: {
    status: number;
    challenge: string | null;
    headers: Readonly<Record<string, string>>;
  }): Promise<boolean> {
    if (status === 401) {
      const isCurrent = headers["authorization"] === `Bearer ${this.#grant.access}`;
      if (isCurrent) await this.#renew();
      return true;
    }
    const parameters = challengeParameters(challenge);
    if (parameters.get("error") !== "insufficient_scope") return false;
    await this.#want(parameters.get("scope"));
    throw this.#required("asks for more rights");
  }

  #open(connection: ToolConnection): OAuthGrant {
    const grant = storedGrant.parse(JSON.parse(this.#options.connections.credentialsOf(connection)));
    const { access, refresh, client } = grant;
    const forms = secretForms([access, refresh, client.secret].filter((each) => each !== undefined));
    // A call that began with the tokens before may still repeat them.
    this.#secrets = [...new Set([...forms, ...this.#secrets])].slice(0, forms.length * 2);
    this.#connection = connection;
    return grant;
  }

  /** One renewal at a time, for all calls that wait for it. */
  #renew(): Promise<void> {
    this.#renewing ??= this.#renewOnce().finally(() => (this.#renewing = undefined));
    return this.#renewing;
  }

  async #renewOnce(): Promise<void> {
    const { connections, clock, wait } = this.#options;
    const before = this.#connection;
    const givesUpAt = clock() + CLAIM_MS;
    for (;;) {
      const now = clock();
      const until = now + CLAIM_MS;
      if (await connections.store.claimRenewal(before, { now, until })) return this.#refresh(before, until);
      const found = await connections.store.find(before.id);
      if (found?.status !== "connected" || found.connectedAt !== before.connectedAt) throw this.#required();
      if (found.version !== before.version) return this.see(found);
      if (now >= givesUpAt) throw unreachable(this.#options.server);
      await wait(LOOK_MS);
    }
  }

  async #refresh(before: ToolConnection, until: number): Promise<void> {
    const { connections, refresh } = this.#options;
    const { store } = connections;
    try {
      const grant = await refresh(this.#grant);
      const sealed = connections.sealFor(before, JSON.stringify(grant));
      const stored = await store.endRenewal(before, { until, sealed });
      if (stored === undefined) throw this.#required();
      this.see(stored);
    } catch (thrown) {
      if (thrown instanceof GrantRefused) {
        await store.endRenewal(before, { until, sealed: undefined });
        throw this.#required("takes your sign-in no longer");
      }
      await store.leaveRenewal(before, until);
      throw thrown;
    }
  }

  async #want(scope: string | undefined): Promise<void> {
    const { connections } = this.#options;
    const wanted = joinedScopes(this.#grant.scope, this.#grant.wanted, scope);
    if (wanted === this.#grant.wanted) return;
    const sealed = connections.sealFor(this.#connection, JSON.stringify({ ...this.#grant, wanted }));
    await connections.store.reseal(this.#connection, sealed);
  }

  #required(problem?: string): GatewayError {
    const { server, connections } = this.#options;
    return new ConnectionRequiredError(server, connections.pageOf(this.#connection), problem);
  }
}

function unreachable(server: string): GatewayError {
  return new GatewayError("upstream_unreachable", `The authorization server of ${server} cannot be reached.`);
}
