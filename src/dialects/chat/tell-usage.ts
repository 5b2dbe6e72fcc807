import { parseObject, type Usage } from "../../core/index.ts";
import { dataOf, eventAround, eventsOf } from "../../streaming/index.ts";
import { writeChatUsage } from "./answers/write-usage.ts";

const DONE = Buffer.from("[DONE]");

/**
 * The last block of a stream with a usage before its end mark, like the chunk that OpenAI sends on demand; `blocks` are the last
 * ones, in which another chunk has the identity of the answer.
 */
export function withUsageChunk(block: Buffer, blocks: readonly Buffer[], usage: Usage): Buffer {
  const { start } = eventAround(block, block.lastIndexOf(DONE));
  const end = block.subarray(0, start);
  const events = [...blocks.slice(0, -1), end].flatMap((one) => [...eventsOf(one)]);
  const chunk = events.map((event) => parseObject(dataOf(event) ?? "")).findLast((one) => one !== undefined);
  const told = { ...chunk, choices: [], usage: writeChatUsage(usage) };
  return Buffer.concat([end, Buffer.from(`data: ${JSON.stringify(told)}\n\n`), block.subarray(start)]);
}
