/** The spending of organisations and users, for the admin API and the command line. */
import type { AccountsDependencies } from "../accounts/index.ts";
import { limits, TAG_KEY } from "../core/index.ts";
import type {
  GenerationStore,
  SpendingOutcome,
  SpendingQuery,
  TagDimension,
  UsageDimension,
} from "../generations/index.ts";
import { organisationIdOf, organisationIn, ownerIn } from "./reach.ts";
import { accountPlaces, type AccountPlaces } from "./account-places.ts";

/** The dimensions of reports, in the order of their columns. */
export const spendingDimensions = [
  "day",
  "organisation",
  "project",
  "user",
  "token",
  "provider",
  "model",
  "operation",
  "session",
  "end_user",
] as const satisfies readonly UsageDimension[];

/** One of them, or `tag:` and a key. */
export type SpendingDimension = (typeof spendingDimensions)[number] | TagDimension;

/** The dimensions in a list with commas between them, each once, in the order of their columns; undefined if one of them is none. */
export function dimensionsIn<Known extends string>(
  list: string,
  known: readonly Known[],
): (Known | TagDimension)[] | undefined {
  const words = new Set(list.split(","));
  const tags = [...words].filter(isTagDimension);
  const found: (Known | TagDimension)[] = [...known.filter((dimension) => words.has(dimension)), ...tags.toSorted()];
  return found.length === words.size ? found : undefined;
}

const TAG = "tag:";

function isTagDimension(word: string): word is TagDimension {
  return word.startsWith(TAG) && TAG_KEY.test(word.slice(TAG.length));
}

/** The filter by values of dimensions, without those that are undefined, and of tags by their keys. */
export function filterOf(
  named: Readonly<Partial<Record<UsageDimension, string | undefined>>>,
  tags: Readonly<Record<string, string | null>> | undefined,
): SpendingQuery["filter"] {
  return {
    ...Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
    ...Object.fromEntries(Object.entries(tags ?? {}).map(([key, value]) => [`${TAG}${key}` as const, value])),
  };
}

export interface SpendingRequest extends Pick<
  SpendingQuery,
  "from" | "to" | "groupBy" | "interval" | "details" | "signal"
> {
  /** Ids or names; of the token its id. */
  organisation?: string | undefined;
  user?: string | undefined;
  project?: string | undefined;
  token?: string | undefined;
  provider?: string | undefined;
  model?: string | undefined;
  operation?: string | undefined;
  session?: string | undefined;
  end_user?: string | undefined;
  /** The values of tags by their keys; null for calls without one. */
  tags?: Readonly<Record<string, string | null>> | undefined;
  groupsMax?: number;
}

export type SpendingReport = Extract<SpendingOutcome, { groups: unknown }> & { places: AccountPlaces };

export interface SpendingDependencies extends AccountsDependencies {
  generations: GenerationStore;
}

/** The report for a caller: an organisation's admin has that of the organisation. Throws 404 for accounts out of reach. */
export async function reportSpending(
  deps: SpendingDependencies,
  request: SpendingRequest,
): Promise<SpendingReport | Exclude<SpendingOutcome, { groups: unknown }>> {
  const { groupBy, interval, details = [], groupsMax = limits.usageGroupsMax } = request;
  const { query, places } = await queryOf(deps, request);
  const report = await deps.generations.spending({ ...query, groupBy, interval, details, groupsMax });
  return typeof report === "object" && "groups" in report ? { ...report, places } : report;
}

/** The query of a request in the caller's reach, and the names of accounts. */
export async function queryOf(deps: SpendingDependencies, request: Omit<SpendingRequest, "groupBy" | "interval">) {
  const organisation = await organisationIdOf(deps, organisationIn(deps.caller, request.organisation));
  const owner = await ownerIn(deps, request);
  const places = await accountPlaces(deps);
  const { token, provider, model, operation, session, end_user } = request;
  const named = { organisation, token, provider, model, operation, session, end_user };
  const filter = filterOf(named, request.tags);
  const { from, to, signal } = request;
  const query = {
    from,
    to,
    filter,
    owners: owner === undefined ? undefined : [owner],
    organisationOf: (account: string) => places.organisationOf(account),
    ...(signal !== undefined && { signal }),
  };
  return { query, places };
}
