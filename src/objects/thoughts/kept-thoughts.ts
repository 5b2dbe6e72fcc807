/**
 * The thoughts before calls of tools, kept for clients that lose them although their model demands them back. Each is encrypted
 * with a key that follows from its user and the id of its call. An upstream makes that id up for every call, and only the client
 * has it: neither the storage nor another user's token opens the thought.
 */
import { createCipheriv, createDecipheriv, hkdfSync } from "node:crypto";
import type { Principal } from "../../auth/index.ts";
import { type Clock, limits, type RandomBytes } from "../../core/index.ts";
import type { SealedThought, ThoughtStore } from "./store.ts";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const ID_BYTES = 18;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Looked up together, so that a long history does not fill the memory before its sum is known. */
const FOUND_TOGETHER = 16;

export interface KeptThoughtsDependencies {
  thoughts: ThoughtStore;
  clock: Clock;
  randomBytes: RandomBytes;
}

/** Who has made the calls. */
type Caller = Pick<Principal, "user">;

export class KeptThoughts {
  readonly #deps: KeptThoughtsDependencies;

  constructor(deps: KeptThoughtsDependencies) {
    this.#deps = deps;
  }

  /** Keeps the thought before calls with these ids. One that is too long is not kept. Durable when it resolves. */
  async keep(thought: string, callIds: readonly string[], caller: Caller): Promise<void> {
    const { thoughts, clock, randomBytes } = this.#deps;
    if (thought === "" || Buffer.byteLength(thought) > limits.keptThoughtBytesMax) return;
    const sealed = callIds.slice(0, limits.keptThoughtCallsMax).map((callId): SealedThought => {
      const { id, key } = secretsOf(callId, caller);
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      return {
        id,
        sealed: Buffer.concat([nonce, cipher.update(thought, "utf8"), cipher.final(), cipher.getAuthTag()]),
      };
    });
    await thoughts.put(sealed, clock() + limits.keptThoughtTtlMs);
  }

  /** The thoughts before all of these calls, by their ids; undefined if one is missing, or if they are too long together. */
  async find(callIds: readonly string[], caller: Caller): Promise<ReadonlyMap<string, string> | undefined> {
    const { thoughts, clock } = this.#deps;
    const found = new Map<string, string>();
    let bytes = 0;
    for (let start = 0; start < callIds.length; start += FOUND_TOGETHER) {
      const asked = callIds
        .slice(start, start + FOUND_TOGETHER)
        .map((callId) => ({ callId, ...secretsOf(callId, caller) }));
      const rows = await thoughts.find(
        asked.map(({ id }) => id),
        clock(),
      );
      const sealed = new Map(rows.map((row) => [row.id, row.sealed]));
      for (const { callId, id, key } of asked) {
        const thought = open(sealed.get(id), key);
        bytes += thought?.length ?? 0;
        if (thought === undefined || bytes > limits.keptThoughtsReadMax) return undefined;
        found.set(callId, thought);
      }
    }
    return found;
  }

  deleteExpired(): Promise<void> {
    return this.#deps.thoughts.deleteExpired(this.#deps.clock());
  }
}

/** Neither tells the other. */
function secretsOf(callId: string, { user }: Caller): { id: string; key: Uint8Array } {
  const bytes = Buffer.from(hkdfSync("sha256", callId, user, "tollgate kept thoughts", KEY_BYTES + ID_BYTES));
  return { id: bytes.subarray(KEY_BYTES).toString("base64url"), key: bytes.subarray(0, KEY_BYTES) };
}

/** Undefined for none, and for one that was changed. */
function open(sealed: Uint8Array | undefined, key: Uint8Array): string | undefined {
  if (sealed === undefined) return undefined;
  const tagAt = sealed.length - TAG_BYTES;
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
    decipher.setAuthTag(sealed.subarray(tagAt));
    return decipher.update(sealed.subarray(NONCE_BYTES, tagAt), undefined, "utf8") + decipher.final("utf8");
  } catch {
    return undefined;
  }
}
