/** The keys of an issuer, by OpenID Connect Discovery 1.0 and RFC 7517. */
import { createLocalJWKSet, errors, type JWTHeaderParameters, type JWTVerifyGetKey } from "jose";
import { z } from "zod";
import { isTrustedOrigin } from "../config/index.ts";
import { type Clock, GatewayError } from "../core/index.ts";
import type { Outbound } from "../outbound/index.ts";
import type { Logger } from "../telemetry/index.ts";
import { collectBody } from "../upstream/index.ts";

/** How long keys are used before they are read again. */
const FRESH_MS = 10 * 60_000;

/** How long they are used while they can't be read again. */
const USABLE_MS = 60 * 60_000;

/** The least time between two readings after one that has failed, and after a key that is not among those read. */
const AFTER_FAILURE_MS = 5_000;
const AFTER_UNKNOWN_MS = 30_000;

/** How long a reading is waited for while there are usable keys: an issuer that hangs must not hold all calls up. */
const WAITED_MS = 1_000;

const BYTES_MAX = 1_048_576;
const KEYS_MAX = 100;
const TIMEOUT_MS = 10_000;

const discovery = z.object({ issuer: z.string(), jwks_uri: z.url() });
const keySet = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(KEYS_MAX) });

export interface IssuerKeysOptions {
  /** As it is configured. */
  issuer: string;
  name: string;
  outbound: Pick<Outbound, "fetch">;
  clock: Clock;
  logger: Logger;
}

interface ReadKeys {
  find: JWTVerifyGetKey;
  /** Of the keys that are for one issuer of several alone, by their ids. */
  issuers: ReadonlyMap<string, string>;
  at: number;
}

/** Reads the keys when they are needed, at most once at a time; a token with an unknown key can't make it read often. */
export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #read: ReadKeys | undefined;
  #reading: Promise<ReadKeys> | undefined;
  /** When the reading that is under way has had its time; undefined while there is none. */
  #waited: Promise<void> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
  }

  /** The key of a token. Rejects with an error of jose for an unknown one, with a `GatewayError` (503) if there are none to look in. */
  readonly find = async (...token: Parameters<JWTVerifyGetKey>): Promise<Awaited<ReturnType<JWTVerifyGetKey>>> => {
    const keys = await this.#fresh();
    try {
      return await keys.find(...token);
    } catch (reason) {
      const mayBeNew = reason instanceof errors.JWKSNoMatchingKey && this.#age(keys.at) >= AFTER_UNKNOWN_MS;
      if (!mayBeNew) throw reason;
      return (await this.#again(undefined, keys)).find(...token);
    }
  };

  /** The only issuer that the key of a verified token is for, with `{tenantid}` for any of Microsoft's. */
  issuerOfKey({ kid = "" }: JWTHeaderParameters): string | undefined {
    return this.#read?.issuers.get(kid);
  }

  async #fresh(): Promise<ReadKeys> {
    const keys = this.#read;
    if (keys !== undefined && this.#age(keys.at) < FRESH_MS) return keys;
    const usable = keys !== undefined && this.#age(keys.at) < USABLE_MS ? keys : undefined;
    return this.#again(usable, usable);
  }

  /** Those that are read now; `meanwhile` if that takes its time, and `instead` if it fails. */
  async #again(meanwhile: ReadKeys | undefined, instead: ReadKeys | undefined): Promise<ReadKeys> {
    if (this.#reading === undefined && this.#age(this.#failedAt) < AFTER_FAILURE_MS)
      return instead ?? this.#unavailable();
    if (this.#reading === undefined) {
      this.#reading = this.#readNow();
      this.#waited = Bun.sleep(WAITED_MS);
    }
    try {
      if (meanwhile === undefined) return await this.#reading;
      // The reading goes on, and logs its own failure.
      return await Promise.race([this.#reading, this.#waited?.then(() => meanwhile) ?? meanwhile]);
    } catch {
      return instead ?? this.#unavailable();
    }
  }

  #unavailable(): never {
    throw new GatewayError(
      "issuer_unavailable",
      `The keys of issuer ${this.#options.name} could not be read. Try again.`,
      {
        retryAfterSeconds: AFTER_FAILURE_MS / 1_000,
      },
    );
  }

  /** Infinite if the clock was set back. */
  #age(at: number): number {
    const age = this.#options.clock() - at;
    return age >= 0 ? age : Number.POSITIVE_INFINITY;
  }

  async #readNow(): Promise<ReadKeys> {
    const { clock, logger, name } = this.#options;
    try {
      this.#read = await this.#keysAt(await this.#addressOfKeys());
      return this.#read;
    } catch (reason) {
      this.#failedAt = clock();
      const why = reason instanceof Error ? reason.message : "";
      logger.warn({ issuer: name, reason: why }, "the keys of an issuer could not be read");
      throw reason;
    } finally {
      this.#reading = undefined;
    }
  }

  async #addressOfKeys(): Promise<string> {
    const { issuer } = this.#options;
    const place = `${issuer.replace(/\/+$/, "")}/.well-known/openid-configuration`;
    const found = await this.#document(place, discovery);
    // Microsoft's document for several tenants has a placeholder in it.
    if (found.issuer !== issuer && found.issuer !== tenantTemplate(issuer))
      throw new Error("its document is of another issuer");
    const address = new URL(found.jwks_uri);
    const isLocal = address.protocol === "http:" && !issuer.startsWith("http:");
    if (!isTrustedOrigin(address) || isLocal) throw new Error("its keys are not behind https");
    return address.href;
  }

  async #keysAt(address: string): Promise<ReadKeys> {
    const { keys } = await this.#document(address, keySet);
    const issuers = keys.flatMap(({ kid, issuer }): [string, string][] =>
      typeof kid === "string" && typeof issuer === "string" ? [[kid, issuer]] : [],
    );
    const find = createLocalJWKSet({ keys });
    return { find, issuers: new Map(issuers), at: this.#options.clock() };
  }

  /** No error has anything of the answer in its message, which is logged. */
  async #document<Form>(url: string, form: z.ZodType<Form>): Promise<Form> {
    const headers = new Headers({ accept: "application/json" });
    const reply = await this.#options.outbound.fetch({ url, headers, bytesMax: BYTES_MAX, timeoutMs: TIMEOUT_MS });
    if (reply.status !== 200) {
      reply.body.cancel();
      throw new Error(`its server answered with status ${reply.status}`);
    }
    const collected = await collectBody(reply.body, BYTES_MAX);
    if (!("bytes" in collected)) throw new Error("its answer is too long");
    const read = form.safeParse(jsonOf(collected.bytes));
    if (read.success) return read.data;
    throw new Error("its answer is no such document");
  }
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

const TENANTS = /^(https:\/\/login\.microsoftonline\.com\/)(?:common|organizations|consumers)(?=\/|$)/;

/** The issuer of Microsoft's endpoints for several tenants, with its placeholder; undefined of all others. */
export function tenantTemplate(issuer: string): string | undefined {
  return TENANTS.test(issuer) ? issuer.replace(TENANTS, "$1{tenantid}") : undefined;
}
