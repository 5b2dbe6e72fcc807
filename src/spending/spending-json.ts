import { creditsNumber } from "../core/index.ts";
import type { SpendingGroup, TagDimension, UsageDetail, UsageSums } from "../generations/index.ts";
import type { AccountPlaces } from "./account-places.ts";
import type { SpendingReport } from "./report-spending.ts";
import { bucketsJson, firstTokenJson } from "./sum-details.ts";

/** A report as the API and `--json` have it. */
export function spendingJson({ groups, total, places }: SpendingReport, details?: readonly UsageDetail[]) {
  return { data: groups.map((group) => entryOf(group, places, details)), total: sumsJson(total, details) };
}

/** A group as the API and `--json` have it. */
export function entryOf({ values, ...sums }: SpendingGroup, places: AccountPlaces, details?: readonly UsageDetail[]) {
  const { organisation, project, user } = values;
  return {
    object: "usage" as const,
    ...("day" in values && { day: values.day ?? "" }),
    ...("organisation" in values && {
      organisation: organisation === undefined ? null : places.nameOf("organisation", organisation),
      organisation_id: organisation ?? null,
    }),
    ...("project" in values && {
      project: project === undefined ? null : places.nameOf("project", project),
      project_id: project ?? null,
    }),
    ...("user" in values && {
      user: user === undefined ? null : places.nameOf("user", user),
      user_id: user ?? null,
    }),
    ...callValuesJson(values),
    ...sumsJson(sums, details),
  };
}

/** The values of the dimensions that name no account; null of a call without a session or an end user. */
export function callValuesJson(values: SpendingGroup["values"]) {
  return {
    ...("token" in values && { token_id: values.token ?? "" }),
    ...("provider" in values && { provider: values.provider ?? "" }),
    ...("model" in values && { model: values.model ?? "" }),
    ...("operation" in values && { operation: values.operation ?? "" }),
    ...("session" in values && { session: values.session ?? null }),
    ...("end_user" in values && { end_user: values.end_user ?? null }),
    ...tagValuesJson(values),
  };
}

/** The tags under their dimensions; null of calls without one. */
function tagValuesJson(values: SpendingGroup["values"]): Partial<Record<TagDimension, string | null>> {
  const tags = Object.entries(values).filter(([dimension]) => dimension.startsWith("tag:"));
  return Object.fromEntries(tags.map(([dimension, value]) => [dimension, value ?? null]));
}

/** Sums as every report has them, and the details that were asked for. */
export function sumsJson(sums: UsageSums, details: readonly UsageDetail[] = []) {
  const { requests, failures, inputTokens, outputTokens, credits, listCredits } = sums;
  return {
    requests: Number(requests),
    failures: Number(failures),
    input_tokens: Number(inputTokens),
    output_tokens: Number(outputTokens),
    credits: creditsNumber(credits),
    list_credits: creditsNumber(listCredits),
    ...(details.includes("buckets") && { buckets: bucketsJson(sums) }),
    ...(details.includes("first_token_ms") && { first_token_ms: firstTokenJson(sums) }),
  };
}
