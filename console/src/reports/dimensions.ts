import type { Dimension, TagName, UsageGroup } from "../api/types.ts";

type OwnGrouping = Exclude<Dimension, "day">;

/** Calls are grouped and filtered by these, besides days: facts of each call, and the tags that it has got. */
export type Grouping = OwnGrouping | TagName;

/** In the order in which they are offered. Those of the admin API alone come first. */
const groupings: Readonly<Record<OwnGrouping, string>> = {
  organisation: "Organisation",
  project: "Project",
  user: "User",
  token: "Token",
  provider: "Provider",
  model: "Model",
  operation: "Operation",
  session: "Session",
  end_user: "End user",
};

const TAG = "tag:";

const isTag = (text: string): text is TagName => /^tag:[\w.-]{1,64}$/.test(text);

/** The text of a grouping. */
export function groupingText(grouping: Grouping): string {
  return isTag(grouping) ? `Tag ${grouping.slice(TAG.length)}` : groupings[grouping];
}

const ofEverybody: ReadonlySet<string> = new Set(["organisation", "project", "user"]);

/** Whether the API of somebody has it. */
export const isAllowed = (grouping: Grouping, seesAll: boolean): boolean => seesAll || !ofEverybody.has(grouping);

/** Those that are offered, with the tags of these keys. */
export function groupingsFor(seesAll: boolean, tagKeys: readonly string[] = []): Grouping[] {
  const own = (Object.keys(groupings) as OwnGrouping[]).filter((grouping) => isAllowed(grouping, seesAll));
  return [...own, ...tagKeys.map((key): TagName => `tag:${key}`)];
}

export const isGrouping = (text: string | undefined): text is Grouping =>
  text !== undefined && (Object.hasOwn(groupings, text) || isTag(text));

/** The options of a field that chooses one of them. */
export const groupingOptions = (offered: readonly Grouping[]): Partial<Record<Grouping, string>> =>
  Object.fromEntries(offered.map((each) => [each, groupingText(each)]));

/** The value of a group, by which calls are filtered; null of calls without one. */
export function groupValue(group: UsageGroup, grouping: Grouping): string | null {
  const value = grouping === "token" ? group.token_id : group[grouping];
  return value ?? null;
}

/** How a value is shown. */
export function groupText(value: string | null, grouping: Grouping): string {
  return value ?? `No ${groupingText(grouping).toLowerCase()}`;
}

/** The filters that the words of an address contain. */
export function filtersOf(words: Readonly<Record<string, string>>): Partial<Record<Grouping, string>> {
  return Object.fromEntries(Object.entries(words).filter(([name]) => isGrouping(name)));
}
