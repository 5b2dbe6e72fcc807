import { type JsonObject, listOf, objectOf } from "../../core/index.ts";
import type { StreamObserver } from "../../streaming/index.ts";
import { changeChunks } from "./change-chunks.ts";

const ROLE = [Buffer.from('"role"')];

/**
 * Removes the `role` from each delta but the first of a choice: OpenAI's SDKs join the roles of all deltas to one text, which no
 * upstream takes back. Chunks without a repeated role keep their bytes.
 */
export function singleRoleStream(observer: StreamObserver): StreamObserver {
  const seen = new Set<unknown>();
  return changeChunks(observer, ROLE, (chunk) => withoutRepeatedRole(chunk, seen));
}

/** The chunk without the roles that its choices have had before; undefined if there are none. */
function withoutRepeatedRole(chunk: JsonObject, seen: Set<unknown>): JsonObject | undefined {
  let repeats = false;
  const choices = listOf(chunk["choices"]).map((value) => {
    const choice = objectOf(value);
    const delta = objectOf(choice?.["delta"]);
    if (choice === undefined || typeof delta?.["role"] !== "string") return value;
    const place = choice["index"] ?? 0;
    if (!seen.has(place)) {
      seen.add(place);
      return value;
    }
    repeats = true;
    const { role: _, ...rest } = delta;
    return { ...choice, delta: rest };
  });
  return repeats ? { ...chunk, choices } : undefined;
}
