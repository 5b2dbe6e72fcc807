/** Fields of sums that reports have if the query asks for them. */
import { z } from "@hono/zod-openapi";
import { usageDetails } from "../../generations/index.ts";
import { firstTokenBounds } from "../../ledger/index.ts";

const count = z.number().int();

const one = `(${usageDetails.join("|")})`;

const list = `^${one}(,${one})*$`;

/** Of the query: the details of sums. */
export const includedDetails = z
  .string()
  .regex(new RegExp(list), `write ${usageDetails.join(", ")}`)
  .transform((text) => usageDetails.filter((detail) => text.split(",").includes(detail)))
  .optional()
  .describe(
    "Further fields of each row: buckets (units by price bucket), first_token_ms (times to the first token), or both with a comma between them.",
  )
  .meta({ type: "string", pattern: list });

const milliseconds = z.number().int().nullable();

/** Those that `include` asks for. */
export const detailFields = {
  buckets: z
    .record(z.string(), count)
    .optional()
    .describe(
      "Units by bucket, disjoint, without those of which there are none. unknown_input and unknown_output are of calls that were removed before their buckets were summed.",
    ),
  first_token_ms: z
    .object({ p50: milliseconds, p95: milliseconds, p99: milliseconds, count })
    .optional()
    .describe(
      `The least of ${firstTokenBounds.join(", ")} ms within which so many calls had their first token; null above the last one. count: the calls that had one.`,
    ),
};
