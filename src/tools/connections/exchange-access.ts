/**
 * Callers with a signed token of an identity provider reach a server with another one, for which the provider exchanges theirs (RFC 8693).
 * Their own never reaches the server. Nothing is stored.
 */
import { createHash } from "node:crypto";
import type { AskUpstream, Clock } from "../../core/index.ts";
import { secretForms } from "../clean-result.ts";
import { RecentMap } from "../recent-map.ts";
import type { ServerAccess, ToolCaller, ToolSource } from "../server-access.ts";
import { askWith, type ServerCredentials } from "./credentials.ts";

/** Signed tokens whose clients are remembered. */
const ACCESSES_MAX = 1_000;

/** A token is exchanged again so long before the other one expires. */
const EARLY_MS = 30_000;

/** How long a token without a time of its own is used. */
const UNBOUND_MS = 300_000;

export interface ExchangedToken {
  access: string;
  /** In milliseconds since the epoch. */
  expiresAt: number | undefined;
}

interface ExchangeAccessOptions {
  ask: AskUpstream;
  /** A client of the server. */
  sourceWith: (ask: AskUpstream) => ToolSource;
  /** Rejects with a `GatewayError`. */
  exchange: (signedToken: string) => Promise<ExchangedToken>;
  /** That of the gateway as a client, which no result may repeat. */
  clientSecret: string | undefined;
  clock: Clock;
}

export class ExchangeAccess {
  readonly #options: ExchangeAccessOptions;
  readonly #known = new RecentMap<ServerAccess>(ACCESSES_MAX);

  constructor(options: ExchangeAccessOptions) {
    this.#options = options;
  }

  /** Undefined for a caller without a signed token. */
  of({ user, signedToken }: ToolCaller): ServerAccess | undefined {
    if (signedToken === undefined) return undefined;
    const key = `${user}.${createHash("sha256").update(signedToken).digest("hex")}`;
    return this.#known.use(key, () => this.#make(key, user, signedToken));
  }

  #make(key: string, owner: string, signedToken: string): ServerAccess {
    const { ask, sourceWith } = this.#options;
    const credentials = new ExchangedCredentials(signedToken, this.#options);
    const source = sourceWith(askWith(ask, credentials));
    return { key, owner, lists: source, calls: source, secrets: () => credentials.secrets };
  }
}

class ExchangedCredentials implements ServerCredentials {
  secrets: readonly string[];
  readonly #signedToken: string;
  readonly #options: Pick<ExchangeAccessOptions, "exchange" | "clock" | "clientSecret">;
  #exchanged: { token: Promise<ExchangedToken>; at: number } | undefined;

  constructor(signedToken: string, options: Pick<ExchangeAccessOptions, "exchange" | "clock" | "clientSecret">) {
    this.#signedToken = signedToken;
    this.#options = options;
    this.secrets = this.#formsWith();
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    return { authorization: `Bearer ${await this.#token()}` };
  }

  /** The provider may give another token once. */
  async refused({ status, headers }: { status: number; headers: Readonly<Record<string, string>> }): Promise<boolean> {
    if (status !== 401) return false;
    const current = await this.#exchanged?.token.catch(() => undefined);
    if (current !== undefined && headers["authorization"] === `Bearer ${current.access}`) this.#exchanged = undefined;
    return true;
  }

  async #token(): Promise<string> {
    const { clock, exchange } = this.#options;
    const known = this.#exchanged;
    if (known !== undefined) {
      const { access, expiresAt = known.at + UNBOUND_MS } = await known.token;
      if (clock() < expiresAt - EARLY_MS) return access;
    }
    // Others may have waited for the same one.
    if (this.#exchanged === known) this.#exchanged = { token: exchange(this.#signedToken), at: clock() };
    const { token } = this.#exchanged ?? { token: exchange(this.#signedToken) };
    try {
      const { access } = await token;
      this.secrets = this.#formsWith(access);
      return access;
    } catch (thrown) {
      if (this.#exchanged?.token === token) this.#exchanged = undefined;
      throw thrown;
    }
  }

  #formsWith(...access: string[]): string[] {
    const { clientSecret } = this.#options;
    return secretForms([this.#signedToken, ...access, ...(clientSecret === undefined ? [] : [clientSecret])]);
  }
}
