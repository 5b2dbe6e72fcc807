import { objectOf } from "../../../core/index.ts";
import type { NativeTool, OwnToolContext } from "../../conversation/index.ts";

/** The type of the tool that stands for pictures in the answer, which are no tool here. */
export const PICTURES = "IMAGE";

/**
 * Google's counterpart of a tool that another provider runs; undefined if it has none, or none with these settings: Google's
 * search takes no list of sites, and no functions beside it. It has no limit of its runs and no place either: a request for one is
 * changed.
 */
export function asOwnTool(
  { dialect, type, value, ...tool }: NativeTool,
  { facts, hasFunctions, changed }: OwnToolContext,
): NativeTool | undefined {
  const own = { ...tool, dialect: "gemini", substitute: undefined } as const;
  if (type === "image_generation" && dialect === "responses")
    return facts.drawsPictures === true ? { ...own, type: PICTURES, value: {} } : undefined;
  if (!type.startsWith("web_search") || dialect === "chat" || hasFunctions) return undefined;
  const { allowed_domains: allowed, blocked_domains: blocked, filters } = value;
  const lists = [allowed, blocked, ...Object.values(objectOf(filters) ?? {})];
  if (lists.some((list) => Array.isArray(list) && list.length > 0)) return undefined;
  if (isSet(value["max_uses"]) || isSet(value["user_location"])) changed("searches");
  return { ...own, type: "googleSearch", value: { googleSearch: {} } };
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;
