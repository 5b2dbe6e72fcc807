import { type JsonObject, objectOf, objectsOf, parseObject } from "../../core/index.ts";
import { generatedBytes, generatedKeys } from "../generated-bytes.ts";

/** Whether a call is made by a program that the upstream runs: the model has not written it. */
export function isByProgram({ caller }: JsonObject): boolean {
  const type = objectOf(caller)?.["type"];
  return type !== undefined && type !== "direct";
}

/** Of a message that breaks off. */
const brokenKeys = generatedKeys(["text", "thinking"], ["cited_text"]);

/** Blocks by which the model calls a tool, its own or a hosted one. */
const CALLS: ReadonlySet<unknown> = new Set(["tool_use", "server_tool_use", "mcp_tool_use"]);

/** The bytes that the model has written in a whole message: text, thoughts, and what it has passed to tools. */
export function writtenBytes(message: string): number {
  const parsed = parseObject(message);
  if (parsed === undefined) return generatedBytes(Buffer.from(message), brokenKeys);
  return objectsOf(parsed["content"]).reduce((bytes, block) => bytes + bytesOfBlock(block), 0);
}

function bytesOfBlock(block: JsonObject): number {
  if (CALLS.has(block["type"])) return isByProgram(block) ? 0 : Buffer.byteLength(JSON.stringify(block["input"] ?? ""));
  const { text, thinking } = block;
  return [text, thinking].reduce<number>(
    (bytes, each) => bytes + (typeof each === "string" ? Buffer.byteLength(each) : 0),
    0,
  );
}
