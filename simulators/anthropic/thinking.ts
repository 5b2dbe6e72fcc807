import { asArray, asObject, type JsonObject } from "../shared/json.ts";
import { sealOf } from "../shared/seal.ts";

const signatureSeal = sealOf("anthropic thinking", "EqQB");
const redactedSeal = sealOf("anthropic redacted thinking", "EmwK");

/** The block of a thought: signed, or redacted. `display` omitted leaves the text out. */
export function thinkingBlock(thought: string, options: { redacted: boolean; omitted: boolean }): JsonObject {
  if (options.redacted) return { type: "redacted_thinking", data: redactedSeal.close(thought) };
  const thinking = options.omitted ? "" : thought;
  return { type: "thinking", thinking, signature: signatureSeal.close([thinking, thought]) };
}

/** True for a thinking block that was given out here and came back unchanged. */
export function isGenuine(block: JsonObject): boolean {
  if (block["type"] === "redacted_thinking") return redactedSeal.open(block["data"]) !== undefined;
  const [thinking] = asArray(signatureSeal.open(block["signature"]));
  return thinking !== undefined && thinking === block["thinking"];
}

/** True for the blocks that hold thinking, readable or not. */
export function isThinking(block: JsonObject): boolean {
  return block["type"] === "thinking" || block["type"] === "redacted_thinking";
}

/** Whether a request asks for thinking before its next answer, given whether that answer follows a tool's result. */
export function wantsThinking(body: JsonObject, afterTool: boolean): boolean {
  const type = asObject(body["thinking"])["type"];
  return type === "enabled" || type === "adaptive" || (type === "between_tools" && afterTool);
}
