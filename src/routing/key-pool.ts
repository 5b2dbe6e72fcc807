import { createHash } from "node:crypto";
import { type Clock, type FailureName, failureTraits, matchesGlob } from "../core/index.ts";
import { placeOf } from "./prefer.ts";
import { keyRedactor } from "./redact-keys.ts";

/**
 * Cool-down of a refused key: long enough not to flood the upstream, short enough for a repaired key to be used soon.
 */
const REFUSED_COOL_DOWN_MS = 60_000;

/** Cool-down of a rate-limited key if the upstream specifies no time to wait. */
const LIMITED_COOL_DOWN_MS = 5_000;

const KEY_ID_CHARACTERS = 16;

/** One key of a provider. */
export interface Key {
  /**
   * Its name, or a hash of the secret. It is stored with resources created by this key, so that later requests for them use it too.
   */
  readonly id: string;
  readonly secret: string;
  /** The headers of requests with this key, cached because thousands of calls have the same ones. */
  readonly cachedHeaders: CachedHeaders[];
}

interface CachedHeaders {
  path: string;
  accept: string;
  headers: Headers;
}

/** Refusals in a row after which a key is asked by one call per cool-down. */
const REFUSALS_MAX = 3;

/** How long an exhausted limit takes until it is whole again; the limits of most providers are per minute. */
const REFILL_MS = 60_000;

/** Of a key whose limit is exhausted: it has a turn only if the others are little better. */
const ROOM_MIN = 0.01;

/** A key with less room is left to those that have no other. */
const SESSION_ROOM_MIN = 0.05;

/** A configured key. */
export interface KeySource {
  name?: string;
  secret: string;
  /** Its share of the calls; 1 by default. */
  weight?: number;
  /** Globs of the models that it is for; all if undefined. */
  models?: readonly string[] | undefined;
}

interface Refusals {
  inRow: number;
  /** Until when a key that was refused time and again is not asked for the operation, whatever happens to its other ones. */
  until: number;
}

interface PooledKey {
  readonly key: Key;
  /** The id of objects that it stored before it had a name. */
  readonly hash: string;
  readonly weight: number;
  readonly models: readonly string[] | undefined;
  coolUntil: number;
  /**
   * Refusals in a row, by operation: a key may lack the permission for one of them, and callers who ask for that must not take it
   * away from the others.
   */
  refusals: Map<string, Refusals>;
  /** The part of its limits that was left when it last answered; undefined if it is not known. */
  room: number | undefined;
  roomAt: number;
  /** Grows by the key's room with each choice; the highest is chosen, and pays for all. */
  turn: number;
}

/** A key, and the operation that it is refused for: its path, with the method and a colon before it unless that is POST. */
export interface RefusedKey {
  keyId: string;
  operation: string;
}

export interface KeyPoolOptions {
  /** Called when a key has been refused three times in a row for an operation, and when it works again for that. */
  onChange?: (key: RefusedKey, change: "refused" | "works") => void;
}

/**
 * A provider's keys, used in turn, in proportion to the room that each has in its limits. A key that was refused or rate limited
 * cools down; one that was refused three times in a row is asked by one call a minute, until it works.
 */
export class KeyPool {
  readonly #keys: readonly PooledKey[];
  readonly #clock: Clock;
  readonly #onChange: KeyPoolOptions["onChange"];
  /** Replaces all keys in a text of an upstream: some repeat the key in the error that refuses it. */
  readonly redact: (text: string) => string;
  /** Whether a key has been refused since it last worked. */
  #hasRefused = false;
  /** Whether a key is for some models alone. */
  readonly #isLimited: boolean;

  constructor(keys: readonly (string | KeySource)[], clock: Clock, { onChange }: KeyPoolOptions = {}) {
    const sources = keys.map((key): KeySource => (typeof key === "string" ? { secret: key } : key));
    this.#isLimited = sources.some(({ models }) => models !== undefined);
    this.#keys = sources.map(({ secret, name, weight = 1, models }) => ({
      key: { id: name ?? keyIdOf(secret), secret, cachedHeaders: [] },
      hash: keyIdOf(secret),
      weight,
      models,
      coolUntil: 0,
      refusals: new Map(),
      room: undefined,
      roomAt: 0,
      turn: 0,
    }));
    this.#clock = clock;
    this.#onChange = onChange;
    this.redact = keyRedactor(sources.map(({ secret }) => secret));
  }

  /**
   * Returns a key that isn't cooling down; if all are, the one that is ready first. Calls of one session get the same key as long
   * as it has room. Undefined without keys, and if all of those that are for the model are refused for the operation.
   */
  acquire(session?: string, operation = "", model?: string): Key | undefined {
    const [only] = this.#keys;
    // Most pools have one key, which has never cooled down: no clock is read.
    if (this.#keys.length === 1 && only?.coolUntil === 0 && !this.#hasRefused && !this.#isLimited) return only.key;
    const now = this.#clock();
    let chosen: PooledKey | undefined;
    let earliest: PooledKey | undefined;
    let rooms = 0;
    for (const each of this.#keys) {
      if (!isFor(each, model) || !mayAsk(each, operation, now)) continue;
      if (each.coolUntil > now) {
        if (earliest === undefined || each.coolUntil < earliest.coolUntil) earliest = each;
        continue;
      }
      const room = roomOf(each, now) * each.weight;
      rooms += room;
      each.turn += room;
      if (chosen === undefined || each.turn > chosen.turn) chosen = each;
    }
    if (chosen !== undefined) {
      if (session !== undefined) chosen = this.#preferred(session, { operation, model }, now) ?? chosen;
      chosen.turn -= rooms;
    }
    const taken = chosen ?? earliest;
    const refusals = taken?.refusals.get(operation);
    if (refusals !== undefined) refusals.until = now + REFUSED_COOL_DOWN_MS;
    return taken?.key;
  }

  /** The key of a session, by rendezvous hashing: another one only if that rests, has little room or is refused. */
  #preferred(
    session: string,
    { operation, model }: { operation: string; model: string | undefined },
    now: number,
  ): PooledKey | undefined {
    let preferred: { pooled: PooledKey; place: number } | undefined;
    for (const pooled of this.#keys) {
      if (pooled.coolUntil > now || pooled.refusals.has(operation) || roomOf(pooled, now) < SESSION_ROOM_MIN) continue;
      if (!isFor(pooled, model)) continue;
      const place = placeOf(session, pooled.key.id);
      if (preferred === undefined || place > preferred.place) preferred = { pooled, place };
    }
    return preferred?.pooled;
  }

  /** Whether there is a choice. */
  get hasSeveral(): boolean {
    return this.#keys.length > 1;
  }

  /** The ids of all keys, in the order of the configuration. */
  get ids(): readonly string[] {
    return this.#keys.map(({ key }) => key.id);
  }

  /** Finds a key by its id; undefined if the operator has removed it from the configuration. */
  find(id: string): Key | undefined {
    return this.#find(id)?.key;
  }

  /** Whether another key for the model could be used now. */
  hasOther({ id }: Key, operation = "", model?: string): boolean {
    const now = this.#clock();
    return this.#keys.some(
      (each) => each.key.id !== id && each.coolUntil <= now && isFor(each, model) && mayAsk(each, operation, now),
    );
  }

  /** The keys that have been refused three times in a row, and have not worked since. */
  get refused(): readonly RefusedKey[] {
    return this.#keys.flatMap((each) =>
      [...each.refusals.keys()]
        .filter((operation) => isRefused(each, operation))
        .map((operation) => ({ keyId: each.key.id, operation })),
    );
  }

  /** Whether all keys for the model have been refused for the operation: only one call a minute is made with them. */
  refuses(operation: string, model: string): boolean {
    const own = this.#keys.filter((each) => isFor(each, model));
    return own.length > 0 && own.every((each) => isRefused(each, operation));
  }

  /** Whether one of several keys is for the model; of a pool without keys the router knows. */
  serves(model: string): boolean {
    return !this.#isLimited || this.#keys.some((each) => isFor(each, model));
  }

  /** Lets a key rest whose fault or limit a failure was. */
  note({ id }: Key, failure: { name: FailureName; retryAfterMs: number | undefined }, operation = ""): void {
    const why = failureTraits[failure.name].key;
    const pooled = why === "fine" ? undefined : this.#find(id);
    if (pooled === undefined || why === "fine") return;
    this.#rest(pooled, why, failure.retryAfterMs);
    // A quota that is used up may be filled up at any time, and the caller learns it from the refusal.
    if (failure.name !== "key_refused") return;
    this.#hasRefused = true;
    const inRow = (pooled.refusals.get(operation)?.inRow ?? 0) + 1;
    pooled.refusals.set(operation, { inRow, until: this.#clock() + REFUSED_COOL_DOWN_MS });
    if (inRow === REFUSALS_MAX) this.#onChange?.({ keyId: id, operation }, "refused");
  }

  /** Lets a key rest that could not list models: it may be able to do other things. */
  coolDown({ id }: Key, why: "refused" | "limited", retryAfterMs: number | undefined): void {
    const pooled = this.#find(id);
    if (pooled !== undefined) this.#rest(pooled, why, retryAfterMs);
  }

  #rest(pooled: PooledKey, why: "refused" | "limited", retryAfterMs: number | undefined): void {
    const milliseconds = why === "refused" ? REFUSED_COOL_DOWN_MS : (retryAfterMs ?? LIMITED_COOL_DOWN_MS);
    pooled.coolUntil = this.#clock() + milliseconds;
  }

  /** Whether anything is learnt from an answer: which of several keys has room, or that a refused one works. */
  get learns(): boolean {
    return this.#keys.length > 1 || this.#hasRefused;
  }

  /** A key has worked, and has this room in its limits, if that is known. */
  noteAnswer({ id }: Key, room: number | undefined, operation = ""): void {
    const pooled = this.#find(id);
    if (pooled === undefined) return;
    if (pooled.refusals.has(operation)) this.#repair(pooled, operation);
    pooled.room = room;
    pooled.roomAt = this.#clock();
  }

  /**
   * Takes over a change of another process: a key has been refused time and again for an operation, or works. Without an operation
   * it works for all. The minute of a refused one counts from the time of the change.
   */
  adopt(
    { keyId, operation }: { keyId: string; operation?: string },
    state: "refused" | "works",
    changedAt = this.#clock(),
  ): void {
    const pooled = this.#find(keyId);
    if (pooled === undefined) return;
    if (state === "works") return this.#forgetRefusals(pooled, operation);
    if (operation === undefined || isRefused(pooled, operation)) return;
    const until = Math.min(changedAt, this.#clock()) + REFUSED_COOL_DOWN_MS;
    pooled.refusals.set(operation, { inRow: REFUSALS_MAX, until });
    this.#hasRefused = true;
  }

  #repair(pooled: PooledKey, operation: string): void {
    const wasRefused = isRefused(pooled, operation);
    this.#forgetRefusals(pooled, operation);
    if (wasRefused) this.#onChange?.({ keyId: pooled.key.id, operation }, "works");
  }

  #forgetRefusals(pooled: PooledKey, operation?: string): void {
    if (operation === undefined) pooled.refusals.clear();
    else pooled.refusals.delete(operation);
    pooled.coolUntil = 0;
    this.#hasRefused = this.#keys.some(({ refusals }) => refusals.size > 0);
  }

  #find(id: string): PooledKey | undefined {
    return this.#keys.find(({ key, hash }) => key.id === id || hash === id);
  }
}

function isRefused({ refusals }: PooledKey, operation: string): boolean {
  return (refusals.get(operation)?.inRow ?? 0) >= REFUSALS_MAX;
}

/** Whether it is not the minute of another call of a key that is refused for the operation. */
function mayAsk(pooled: PooledKey, operation: string, now: number): boolean {
  return !isRefused(pooled, operation) || (pooled.refusals.get(operation)?.until ?? 0) <= now;
}

function isFor({ models }: PooledKey, model: string | undefined): boolean {
  return models === undefined || model === undefined || models.some((glob) => matchesGlob(glob, model));
}

/** The rest of a key's limits, between 0 and 1. */
function roomOf({ room, roomAt }: PooledKey, now: number): number {
  return room === undefined ? 1 : Math.min(1, Math.max(ROOM_MIN, room + (now - roomAt) / REFILL_MS));
}

/** The id of the key with this secret. */
export function keyIdOf(secret: string): string {
  return createHash("sha256").update(secret).digest("base64url").slice(0, KEY_ID_CHARACTERS);
}
