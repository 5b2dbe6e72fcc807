import { creditsNumber } from "../core/index.ts";
import type { SpendingGroup, UsageSums } from "../generations/index.ts";
import type { AccountPlaces } from "./account-places.ts";
import type { SpendingReport } from "./report-spending.ts";

/** A report as the API and `--json` have it. */
export function spendingJson({ groups, total, places }: SpendingReport) {
  return { data: groups.map((group) => entryOf(group, places)), total: sumsJson(total) };
}

function entryOf({ values, ...sums }: SpendingGroup, places: AccountPlaces) {
  const { day, organisation, user, token, provider, model } = values;
  return {
    object: "usage" as const,
    ...("day" in values && { day: day ?? "" }),
    ...("organisation" in values && {
      organisation: organisation === undefined ? null : places.nameOf("organisation", organisation),
      organisation_id: organisation ?? null,
    }),
    ...("user" in values && user !== undefined && { user: places.nameOf("user", user), user_id: user }),
    ...("token" in values && { token_id: token ?? "" }),
    ...("provider" in values && { provider: provider ?? "" }),
    ...("model" in values && { model: model ?? "" }),
    ...sumsJson(sums),
  };
}

/** Sums as every report has them. */
export function sumsJson({ requests, inputTokens, outputTokens, credits }: UsageSums) {
  return {
    requests: Number(requests),
    input_tokens: Number(inputTokens),
    output_tokens: Number(outputTokens),
    credits: creditsNumber(credits),
  };
}
