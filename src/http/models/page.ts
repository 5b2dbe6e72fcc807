/** Anthropic's pages of a list. */
import { z } from "@hono/zod-openapi";

const PAGE_SIZE = 20;
const PAGE_SIZE_MAX = 1_000;

export const pageQuery = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(PAGE_SIZE_MAX)
    .optional()
    .describe(
      `The most models of a page; with the header anthropic-version ${PAGE_SIZE} by default, else all of them.`,
    ),
  after_id: z.string().optional().describe("The page behind this model."),
  before_id: z.string().optional().describe("The page in front of this model."),
});

type PageQuery = z.output<typeof pageQuery>;

export interface ModelPage<Item> {
  data: Item[];
  has_more: boolean;
  first_id: string | null;
  last_id: string | null;
}

/** The page that a query asks for. It is empty behind or in front of a model that is not in the list (any more). */
export function pageOf<Item extends { id: string }>(
  all: readonly Item[],
  { limit = PAGE_SIZE, after_id: after, before_id: before }: PageQuery,
): ModelPage<Item> {
  const place = (id: string): number | undefined => {
    const found = all.findIndex((item) => item.id === id);
    return found === -1 ? undefined : found;
  };
  const start = after === undefined ? 0 : (place(after) ?? all.length) + 1;
  const end = before === undefined ? all.length : (place(before) ?? 0);
  const asked = all.slice(start, end);
  const data = before === undefined ? asked.slice(0, limit) : asked.slice(-limit);
  return {
    data,
    has_more: asked.length > limit,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}
