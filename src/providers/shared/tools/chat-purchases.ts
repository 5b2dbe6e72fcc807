import { type JsonObject, objectOf } from "../../../core/index.ts";
import { free, toolReader } from "./hosted-tools.ts";
import { refusal } from "../refusal.ts";
import type { ToolReader } from "../../tool-purchase.ts";

const readTyped = toolReader([[/^(?:function|custom)$/, free]]);

/**
 * The tools of an upstream that runs none itself, or does not count them: in streams of chat, no chunk with a usage names
 * the tools that have run. Upstreams do without the type of a function.
 */
export const readChatTool: ToolReader = (tool, body, model) =>
  tool["type"] === undefined && objectOf(tool["function"]) !== undefined ? {} : readTyped(tool, body, model);

/** Members of a chat body that buy something at some provider, besides its tools: searches, and other models. */
const buyingMembers = [
  "web_search_options",
  "search_parameters",
  "enable_search",
  "plugins",
  "models",
  "fallbacks",
] as const;

export type BuyingMember = (typeof buyingMembers)[number];

/**
 * Throws 422 for a member whose purchases the upstream's reader does not know. `known`: those
 * that it does know.
 */
export function refuseUnknownPurchases(body: JsonObject, known: readonly BuyingMember[]): void {
  for (const member of buyingMembers) {
    const value = body[member];
    if (value === undefined || known.includes(member) || buysNothing(value)) continue;
    throw refusal(
      member,
      "what it buys has no price here. Leave it out, or use a model whose provider tells its cost.",
    );
  }
}

function buysNothing(value: unknown): boolean {
  const isEmpty = Array.isArray(value) && value.length === 0;
  return value === null || value === false || isEmpty || objectOf(value)?.["mode"] === "off";
}
