import { type JsonObject, parseObject } from "../../core/index.ts";
import { dataOf, eventsWith, type StreamObserver } from "../../streaming/index.ts";

/**
 * Changes chunks of a stream for its client. Only events that contain one of `words` are parsed; those for which `change` returns
 * undefined keep their bytes, as all others do.
 */
export function changeChunks(
  observer: StreamObserver,
  words: readonly Buffer[],
  change: (chunk: JsonObject) => JsonObject | undefined,
): StreamObserver {
  const see = observer.see.bind(observer);
  observer.see = (block) => changed(see(block), words, change);
  return observer;
}

function changed(
  block: Buffer,
  words: readonly Buffer[],
  change: (chunk: JsonObject) => JsonObject | undefined,
): Buffer {
  const shown: Buffer[] = [];
  let from = 0;
  for (const event of eventsWith(block, words)) {
    const data = dataOf(event);
    const chunk = data === undefined ? undefined : parseObject(data);
    const other = chunk && change(chunk);
    if (other === undefined) continue;
    const start = event.byteOffset - block.byteOffset;
    shown.push(block.subarray(from, start), Buffer.from(`data: ${JSON.stringify(other)}\n\n`));
    from = start + event.length;
  }
  return from === 0 ? block : Buffer.concat([...shown, block.subarray(from)]);
}
