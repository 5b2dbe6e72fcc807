import type { z } from "zod";
import { type Clock, creditsNumber, GatewayError, limits } from "../core/index.ts";
import type { GenerationStore, UsageGroup, UsageGrouping, UsageSums } from "../generations/index.ts";
import { parseQuery } from "./parse-query.ts";
import type { HttpRoute } from "./route.ts";
import { usageContract, type usageAnswer, usageQuery } from "./usage.contract.ts";
import { periodOf } from "./usage-period.ts";

export interface UsageRouteDependencies {
  generations: GenerationStore;
  clock: Clock;
  groupsMax?: number;
}

type Answer = z.input<typeof usageAnswer>;

/** What the caller's user has spent, whichever of their tokens it was. */
export function usageRoute(deps: UsageRouteDependencies): HttpRoute {
  const { generations, clock, groupsMax = limits.usageGroupsMax } = deps;
  return {
    contract: usageContract,
    surface: "openai",
    access: "token",
    async handle({ request, principal }) {
      const { group_by: groupBy, ...bounds } = parseQuery(request, usageQuery);
      const { from, to } = periodOf(bounds, clock());
      const owner = principal.user;
      const report = await generations.usage({ owner, from, to, groupBy, groupsMax, signal: request.signal });
      if (report === "too-many-groups") throw tooMany(groupBy, groupsMax);
      const answer: Answer = {
        object: "list",
        data: report.groups.map((group) => entryOf(groupBy, group)),
        total: sumsOf(report.total),
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        group_by: groupBy,
      };
      return Response.json(answer);
    },
  };
}

function entryOf(groupBy: UsageGrouping, group: UsageGroup): Answer["data"][number] {
  const entry = { object: "usage" as const, ...sumsOf(group) };
  if (groupBy === "day") return { ...entry, day: group.name };
  return groupBy === "model" ? { ...entry, model: group.name } : { ...entry, token_id: group.name };
}

function sumsOf({ requests, inputTokens, outputTokens, credits }: UsageSums): Answer["total"] {
  return {
    requests: Number(requests),
    input_tokens: Number(inputTokens),
    output_tokens: Number(outputTokens),
    credits: creditsNumber(credits),
  };
}

function tooMany(groupBy: UsageGrouping, groupsMax: number): GatewayError {
  return new GatewayError(
    "validation_failed",
    `group_by: there are more than ${groupsMax} groups by ${groupBy}. Ask for a shorter time.`,
    { param: "group_by" },
  );
}
