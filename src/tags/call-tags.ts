/** The tags of calls, by the keys that the caller's organisation declares, each with a bounded number of values. */
import type { Principal } from "../auth/index.ts";
import { isTagValue, type JsonObject, limits, objectOf, tagsInHeaders } from "../core/index.ts";
import type { TagPlace, TagValueStore } from "./store.ts";

/** The value of calls whose own one is beyond those that a key may have. */
const OTHER_VALUES = "other";

/** Values that a process remembers, of all keys. */
const REMEMBERED_MAX = 200_000;

/** Whose calls have tags. */
export type TagOwner = Pick<Principal, "organisation" | "tags" | "metadata">;

export interface TaggedCall {
  /**
   * The values of the declared keys that the call has, in the order of the keys; undefined if it has none. A value that is new to this process is
   * `other` until it is kept.
   */
  tags: Readonly<Record<string, string>> | undefined;
  /**
   * The keys in its headers that are not declared, those for whose values there is no more room, and the headers that can't be read;
   * undefined if there are none.
   */
  dropped: string | undefined;
  /**
   * Stores the values that are new to this process, and sets those for which there is room in `tags`. Undefined if there are none. To be called once
   * the call is held: a call that is refused must not use up a key's values. Rejects if the storage cannot be asked.
   */
  keep?: (() => Promise<void>) | undefined;
}

/** A value of a call that is new to this process. */
interface NewValue {
  place: TagPlace;
  name: string;
  value: string;
}

const UNTAGGED: TaggedCall = { tags: undefined, dropped: undefined };

interface KnownValues {
  values: ReadonlySet<string>;
  isFull: boolean;
}

export class CallTags {
  readonly #store: TagValueStore;
  readonly #valuesMax: number;
  readonly #rememberedMax: number;
  /** By organisation and key, the latest ones used last. */
  readonly #known = new Map<string, KnownValues>();
  #knownValues = 0;

  constructor(store: TagValueStore, valuesMax: number = limits.tagValuesMax, rememberedMax = REMEMBERED_MAX) {
    this.#store = store;
    this.#valuesMax = valuesMax;
    this.#rememberedMax = rememberedMax;
  }

  /** The tags of a call: of its headers, else of its body's `metadata`, else of the token. */
  of(
    { organisation, tags: declared, metadata }: TagOwner,
    headers: Pick<Headers, "get">,
    body: JsonObject | undefined,
  ): TaggedCall {
    const named = tagsInHeaders(headers);
    if (organisation === undefined || declared === undefined)
      return named === undefined ? UNTAGGED : { tags: undefined, dropped: droppedOf(named, [], []) };
    const ofBody = body && objectOf(body["metadata"]);
    const tags: Record<string, string> = {};
    let added: NewValue[] | undefined;
    let isTagged = false;
    const beyond: string[] = [];
    let room = limits.tagBytesMax - BRACES_BYTES;
    for (const key of declared) {
      const value = named?.values.get(key) ?? valueIn(ofBody, key) ?? valueIn(metadata, key);
      if (value === undefined) continue;
      room -= key.length + MARKS_BYTES + Buffer.byteLength(JSON.stringify(value));
      if (room < 0) {
        beyond.push(key);
        continue;
      }
      isTagged = true;
      const name = `${organisation}\n${key}`;
      const bounded = this.#bounded(name, value);
      tags[key] = bounded ?? OTHER_VALUES;
      if (bounded === undefined) (added ??= []).push({ place: { organisation, key }, name, value });
    }
    const dropped = droppedOf(named, declared, beyond);
    if (!isTagged) return dropped === undefined ? UNTAGGED : { tags: undefined, dropped };
    if (added === undefined) return { tags, dropped };
    const each = async ({ place, name, value }: NewValue): Promise<void> => {
      tags[place.key] = await this.#add(place, name, value);
    };
    return { tags, dropped, keep: async () => void (await Promise.all(added.map(each))) };
  }

  /** The value, or the one of all values beyond the bound; undefined if it is new to this process. */
  #bounded(name: string, value: string): string | undefined {
    const known = this.#known.get(name);
    if (known?.values.has(value) === true) {
      this.#known.delete(name);
      this.#known.set(name, known);
      return value;
    }
    return known?.isFull === true ? OTHER_VALUES : undefined;
  }

  async #add(place: TagPlace, name: string, value: string): Promise<string> {
    const values = await this.#store.add(place, value, this.#valuesMax);
    this.#forget(name);
    this.#known.set(name, { values, isFull: values.size >= this.#valuesMax });
    this.#knownValues += values.size;
    for (const oldest of this.#known.keys()) {
      if (this.#knownValues <= this.#rememberedMax) break;
      this.#forget(oldest);
    }
    return values.has(value) ? value : OTHER_VALUES;
  }

  #forget(name: string): void {
    this.#knownValues -= this.#known.get(name)?.values.size ?? 0;
    this.#known.delete(name);
  }
}

/** In JSON, around all tags. */
const BRACES_BYTES = 2;

/** In JSON, the quotes of a key, its colon and a comma. */
const MARKS_BYTES = 4;

function valueIn(values: Readonly<Record<string, unknown>> | undefined, key: string): string | undefined {
  if (values === undefined || !Object.hasOwn(values, key)) return undefined;
  const value = values[key];
  return isTagValue(value) ? value : undefined;
}

function droppedOf(
  named: ReturnType<typeof tagsInHeaders>,
  declared: readonly string[],
  beyond: readonly string[],
): string | undefined {
  if (named === undefined && beyond.length === 0) return undefined;
  const { values, malformed = [] } = named ?? {};
  const names = [...(values?.keys() ?? [])].filter((key) => !declared.includes(key));
  const all = [...malformed, ...[...names, ...beyond].toSorted()];
  return all.length === 0 ? undefined : all.join(", ");
}
