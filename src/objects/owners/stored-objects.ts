/**
 * The owners of objects that upstreams store. Upstreams see all callers with one key, so a reference is only sent if
 * the object is the caller's own: an earlier answer to the same user contained its id.
 *
 * Ids in requests prove nothing. A caller could send an item of its own with another user's id, and an upstream would
 * return that id in a list of the input; such lists are therefore not read.
 */
import type { Principal } from "../../auth/index.ts";
import {
  type Clock,
  GatewayError,
  isStorableId,
  limits,
  objectKinds,
  type ObjectReference,
  type StoredObject,
} from "../../core/index.ts";
import type { UpstreamRoute } from "../../routing/index.ts";
import type { ObjectOwner, ObjectOwnerStore } from "./store.ts";

export interface StoredObjectsDependencies {
  owners: ObjectOwnerStore;
  clock: Clock;
}

/** The caller and its upstream. */
export interface ObjectCaller {
  principal: Pick<Principal, "user">;
  route: Pick<UpstreamRoute, "prefix" | "sharedStores">;
  /** Of a call that may go to several providers. */
  lookup?: ObjectLookup | undefined;
}

/** The look-up of the objects that one call refers to: once for all providers that it may go to. */
export class ObjectLookup {
  readonly #providers: readonly string[];
  readonly #found = new Map<string, Promise<ObjectOwner[]>>();

  /** Prefixes. */
  constructor(providers: Iterable<string>) {
    this.#providers = [...new Set(providers)];
  }

  find(owners: ObjectOwnerStore, ids: readonly string[], at: number): Promise<ObjectOwner[]> {
    const key = JSON.stringify(ids);
    let found = this.#found.get(key);
    if (found === undefined) {
      found = owners.find(this.#providers, ids, at);
      this.#found.set(key, found);
    }
    return found;
  }
}

export class StoredObjects {
  readonly #deps: StoredObjectsDependencies;

  constructor(deps: StoredObjectsDependencies) {
    this.#deps = deps;
  }

  /** For a call that may go to several providers, by their prefixes. */
  lookup(providers: Iterable<string>): ObjectLookup {
    return new ObjectLookup(providers);
  }

  /**
   * Checks that the caller may refer to all of these objects. Returns the id of the key that knows them; undefined if
   * any key will do. Throws 404 for the first object that is not the caller's, and 422 for too many.
   */
  async authorize(references: readonly ObjectReference[], caller: ObjectCaller): Promise<string | undefined> {
    const { principal, route } = caller;
    if (references.length === 0) return undefined;
    if (references.length > limits.objectReferencesMax) throw tooMany(references);
    const ids = [...new Set(references.map(({ id }) => id))].filter(isStorableId);
    const known = Map.groupBy(await this.#find(ids, caller), keyOf);
    let keyId: string | undefined;
    for (const reference of references) {
      const records = known.get(keyOf(reference)) ?? [];
      const own = records.find(({ owner }) => owner === principal.user);
      if (own === undefined && !isShared(reference, records, route)) throw notFound(reference, caller);
      keyId ??= own?.keyId;
    }
    return keyId;
  }

  async #find(ids: readonly string[], { route: { prefix }, lookup }: ObjectCaller): Promise<ObjectOwner[]> {
    if (ids.length === 0) return [];
    const { owners, clock } = this.#deps;
    if (lookup === undefined) return owners.find([prefix], ids, clock());
    return (await lookup.find(owners, ids, clock())).filter(({ provider }) => provider === prefix);
  }

  /** The id of the key that made the first of these that is the caller's own; undefined if none is. */
  async keyOf(objects: readonly StoredObject[], caller: ObjectCaller): Promise<string | undefined> {
    return firstOwn(objects, await this.#find(idsOf(objects), caller), caller)?.keyId;
  }

  /** The provider that made the first of these that is the caller's own, among those that the call may go to; undefined if none did. */
  async makerOf(
    objects: readonly StoredObject[],
    { principal, lookup }: Pick<ObjectCaller, "principal"> & { lookup: ObjectLookup },
  ): Promise<string | undefined> {
    const { owners, clock } = this.#deps;
    return firstOwn(objects, await lookup.find(owners, idsOf(objects), clock()), { principal })?.provider;
  }

  /** The ids among these that answers of other providers alone gave to the caller: items that this one cannot read. */
  async madeElsewhere(itemIds: readonly string[], { principal, route }: ObjectCaller): Promise<ReadonlySet<string>> {
    const ids = [...new Set(itemIds)].filter(isStorableId).slice(-limits.objectReferencesMax);
    if (ids.length === 0) return new Set();
    const { owners, clock } = this.#deps;
    const made = Map.groupBy(await owners.makersOf(ids, principal.user, clock()), ({ id }) => id);
    const elsewhere = ids.filter((id) => made.get(id)?.every(({ provider }) => provider !== route.prefix) === true);
    return new Set(elsewhere);
  }

  /** The objects among these that are recorded as the caller's. */
  async known(objects: readonly StoredObject[], caller: ObjectCaller): Promise<StoredObject[]> {
    const ids = objects.map(({ id }) => id).filter(isStorableId);
    const own = (await this.#find(ids, caller)).filter(({ owner }) => owner === caller.principal.user);
    const keys = new Set(own.map(keyOf));
    return objects.filter((object) => keys.has(keyOf(object)));
  }

  /** Records the caller as the owner of objects in an answer. `ttlMs`: how long, in milliseconds. */
  async record(
    objects: readonly StoredObject[],
    { principal, route }: ObjectCaller,
    { keyId, ttlMs }: { keyId: string; ttlMs: number },
  ): Promise<void> {
    const created = objects.filter(({ id }) => isStorableId(id)).slice(0, limits.createdObjectsMax);
    if (created.length === 0) return;
    const expiresAt = this.#deps.clock() + ttlMs;
    await this.#deps.owners.put({ objects: created, provider: route.prefix, owner: principal.user, keyId, expiresAt });
  }
}

const idsOf = (objects: readonly StoredObject[]): string[] => objects.map(({ id }) => id);

/** The record of the first of these objects that is the caller's own. */
function firstOwn(
  objects: readonly StoredObject[],
  found: readonly ObjectOwner[],
  { principal }: Pick<ObjectCaller, "principal">,
): ObjectOwner | undefined {
  const own = new Map(found.filter(({ owner }) => owner === principal.user).map((one) => [keyOf(one), one]));
  return objects.map((object) => own.get(keyOf(object))).find((record) => record !== undefined);
}

function keyOf({ kind, id }: StoredObject): string {
  return `${kind} ${id}`;
}

/** Whether an object that is not the caller's own may be used by everybody. One with a known owner never is. */
function isShared(
  { kind, id }: ObjectReference,
  records: readonly ObjectOwner[],
  { sharedStores }: ObjectCaller["route"],
): boolean {
  return sharedStores && id !== "" && records.length === 0 && objectKinds[kind].createdBy === "anyone";
}

/** The error does not reveal whether the object exists. */
function notFound({ kind, id, param }: ObjectReference, { route }: ObjectCaller): GatewayError {
  const shown = JSON.stringify(id.slice(0, 80));
  const name = kind.replaceAll("_", " ");
  const message = `${param}: there is no ${name} ${shown} of yours at ${route.prefix}.`;
  const hint =
    objectKinds[kind].createdBy === "anyone" && !route.sharedStores
      ? ` To let all callers use those of the provider's account, an operator sets providers.${route.prefix}.shared_stores.`
      : "";
  return new GatewayError("object_not_found", message + hint, { param });
}

function tooMany(references: readonly ObjectReference[]): GatewayError {
  const { param } = references[limits.objectReferencesMax] ?? { param: "" };
  const message = `${param}: the body refers to more than ${limits.objectReferencesMax} stored objects.`;
  return new GatewayError("validation_failed", message, { param });
}
