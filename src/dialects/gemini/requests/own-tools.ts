import { objectOf } from "../../../core/index.ts";
import type { NativeTool } from "../../conversation/index.ts";

/** The type of the tool that stands for pictures in the answer, which are no tool here. */
export const PICTURES = "IMAGE";

/**
 * Google's counterpart of a tool that another provider runs; undefined if it has none, or none with these settings: Google's
 * search takes no list of sites.
 */
export function asOwnTool({ dialect, type, value, ...tool }: NativeTool): NativeTool | undefined {
  const own = { ...tool, dialect: "gemini", substitute: undefined } as const;
  if (type === "image_generation" && dialect === "responses") return { ...own, type: PICTURES, value: {} };
  if (!type.startsWith("web_search") || dialect === "chat") return undefined;
  const { allowed_domains: allowed, blocked_domains: blocked, filters } = value;
  const lists = [allowed, blocked, ...Object.values(objectOf(filters) ?? {})];
  const isLimited = lists.some((list) => Array.isArray(list) && list.length > 0);
  return isLimited ? undefined : { ...own, type: "googleSearch", value: { googleSearch: {} } };
}
