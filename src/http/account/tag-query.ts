/** The filters of queries by texts of calls, tags among them. */
import { z } from "@hono/zod-openapi";
import { GatewayError, isTagValue, TAG_KEY } from "../../core/index.ts";

/** Of a filter. Postgres takes no NUL. */
export const printableText = (charactersMax: number) =>
  z
    .string()
    .min(1)
    .max(charactersMax)
    .regex(/^[ -~\u00a1-\uffff]+$/);

/** A tag's value by `tag:` and its key. */
const TAG_PREFIX = "tag:";

/** How the document shows the filters by tags, whose names are not known ahead. */
export const tagFilter = {
  "tag:KEY": z
    .string()
    .max(128)
    .optional()
    .describe("The value of a tag, whose key stands for KEY: `tag:team=search`. Empty: calls without that tag."),
};

/** The tags that a query asks for; null for calls without one. Throws 422 for a key or a value that no tag can have. */
export function tagsAsked({ url }: Pick<Request, "url">): Record<string, string | null> | undefined {
  const asked: [string, string | null][] = [];
  for (const [param, value] of new URL(url).searchParams) {
    if (!param.startsWith(TAG_PREFIX)) continue;
    const key = param.slice(TAG_PREFIX.length);
    if (!TAG_KEY.test(key) || (value !== "" && !isTagValue(value)))
      throw new GatewayError("validation_failed", `${param.slice(0, 80)}: no tag`, { param: param.slice(0, 80) });
    asked.push([key, value === "" ? null : value]);
  }
  return asked.length === 0 ? undefined : Object.fromEntries(asked);
}
