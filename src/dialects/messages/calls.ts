import { type JsonObject, listOf, objectOf, parseObject } from "../../core/index.ts";

/** Whether a call is made by a program that the upstream runs: the model has not written it. */
export function isByProgram({ caller }: JsonObject): boolean {
  const type = objectOf(caller)?.["type"];
  return type !== undefined && type !== "direct";
}

/** The bytes that the model has passed to tools in a whole message. */
export function bytesOfCalls(message: string): number {
  let bytes = 0;
  for (const each of listOf(parseObject(message)?.["content"])) {
    const block = objectOf(each) ?? {};
    if (block["type"] !== "tool_use" || isByProgram(block)) continue;
    bytes += Buffer.byteLength(JSON.stringify(block["input"] ?? ""));
  }
  return bytes;
}
