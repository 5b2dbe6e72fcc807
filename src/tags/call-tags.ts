/** The tags of calls, by the keys that the caller's organisation declares, each with a bounded number of values. */
import type { Principal } from "../auth/index.ts";
import { isTagValue, type JsonObject, limits, objectOf, tagsInHeaders } from "../core/index.ts";
import type { TagPlace, TagValueStore } from "./store.ts";

/** The value of calls whose own one is beyond those that a key may have. */
const OTHER_VALUES = "other";

/** Keys whose values a process remembers. */
const KEYS_MAX = 500;

/** Whose calls have tags. */
export type TagOwner = Pick<Principal, "organisation" | "tags" | "metadata">;

export interface TaggedCall {
  /** The values of the declared keys that the call has, in the order of the keys; undefined if it has none. */
  tags: Readonly<Record<string, string>> | undefined;
  /** The keys in its headers that are not declared, and the headers that can't be read; undefined if there are none. */
  dropped: string | undefined;
}

const UNTAGGED: TaggedCall = { tags: undefined, dropped: undefined };

interface KnownValues {
  values: ReadonlySet<string>;
  isFull: boolean;
}

export class CallTags {
  readonly #store: TagValueStore;
  readonly #valuesMax: number;
  /** By organisation and key, the latest ones used last. */
  readonly #known = new Map<string, KnownValues>();

  constructor(store: TagValueStore, valuesMax: number = limits.tagValuesMax) {
    this.#store = store;
    this.#valuesMax = valuesMax;
  }

  /**
   * The tags of a call: of its headers, else of its body's `metadata`, else of the token. A promise only if a value is new to this process:
   * it rejects if the storage cannot be asked.
   */
  of(
    { organisation, tags: declared, metadata }: TagOwner,
    headers: Pick<Headers, "get">,
    body: JsonObject | undefined,
  ): TaggedCall | Promise<TaggedCall> {
    const named = tagsInHeaders(headers);
    if (organisation === undefined || declared === undefined)
      return named === undefined ? UNTAGGED : { tags: undefined, dropped: droppedOf(named, []) };
    const ofBody = body && objectOf(body["metadata"]);
    const tags: Record<string, string> = {};
    let waiting: Promise<void>[] | undefined;
    let isTagged = false;
    for (const key of declared) {
      const value = named?.values.get(key) ?? valueIn(ofBody, key) ?? valueIn(metadata, key);
      if (value === undefined) continue;
      isTagged = true;
      const bounded = this.#bounded({ organisation, key }, value);
      // Its place in the object is that of the key.
      tags[key] = OTHER_VALUES;
      if (typeof bounded === "string") tags[key] = bounded;
      else (waiting ??= []).push(bounded.then((stored) => void (tags[key] = stored)));
    }
    const dropped = named && droppedOf(named, declared);
    if (!isTagged) return dropped === undefined ? UNTAGGED : { tags: undefined, dropped };
    return waiting === undefined ? { tags, dropped } : Promise.all(waiting).then(() => ({ tags, dropped }));
  }

  /** The value, or the one of all values beyond the bound. */
  #bounded(place: TagPlace, value: string): string | Promise<string> {
    const name = `${place.organisation}\n${place.key}`;
    const known = this.#known.get(name);
    if (known?.values.has(value) === true) return value;
    if (known?.isFull === true) return OTHER_VALUES;
    return this.#add(place, name, value);
  }

  async #add(place: TagPlace, name: string, value: string): Promise<string> {
    const values = await this.#store.add(place, value, this.#valuesMax);
    this.#known.delete(name);
    this.#known.set(name, { values, isFull: values.size >= this.#valuesMax });
    const oldest = this.#known.keys().next().value;
    if (this.#known.size > KEYS_MAX && oldest !== undefined) this.#known.delete(oldest);
    return values.has(value) ? value : OTHER_VALUES;
  }
}

function valueIn(values: Readonly<Record<string, unknown>> | undefined, key: string): string | undefined {
  if (values === undefined || !Object.hasOwn(values, key)) return undefined;
  const value = values[key];
  return isTagValue(value) ? value : undefined;
}

function droppedOf(
  { values, malformed }: NonNullable<ReturnType<typeof tagsInHeaders>>,
  declared: readonly string[],
): string | undefined {
  const names = [...values.keys()].filter((key) => !declared.includes(key)).toSorted();
  const all = [...malformed, ...names];
  return all.length === 0 ? undefined : all.join(", ");
}
