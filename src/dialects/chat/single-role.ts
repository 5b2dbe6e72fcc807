import { listOf, objectOf, parseObject } from "../../core/index.ts";
import { dataOf, eventsWith, type StreamObserver } from "../../streaming/index.ts";

const ROLE = Buffer.from('"role"');

/**
 * Removes the `role` from each delta but the first of a choice: OpenAI's SDKs join the roles of all deltas to one text, which no
 * upstream takes back. Chunks without a repeated role keep their bytes.
 */
export function singleRoleStream(observer: StreamObserver): StreamObserver {
  const see = observer.see.bind(observer);
  const seen = new Set<unknown>();
  observer.see = (block) => withoutRepeatedRoles(see(block), seen);
  return observer;
}

function withoutRepeatedRoles(block: Buffer, seen: Set<unknown>): Buffer {
  if (!block.includes(ROLE)) return block;
  const shown: Buffer[] = [];
  let from = 0;
  for (const event of eventsWith(block, [ROLE])) {
    const single = withoutRepeatedRole(event, seen);
    if (single === undefined) continue;
    const start = event.byteOffset - block.byteOffset;
    shown.push(block.subarray(from, start), single);
    from = start + event.length;
  }
  return from === 0 ? block : Buffer.concat([...shown, block.subarray(from)]);
}

/** The event without the roles that its choices have had before; undefined if there are none. */
function withoutRepeatedRole(event: Buffer, seen: Set<unknown>): Buffer | undefined {
  const data = dataOf(event);
  const chunk = data === undefined ? undefined : parseObject(data);
  if (chunk === undefined) return undefined;
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
  return repeats ? Buffer.from(`data: ${JSON.stringify({ ...chunk, choices })}\n\n`) : undefined;
}
