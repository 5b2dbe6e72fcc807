import type { Dimension, UsageGroup } from "../api/types.ts";

/** What calls are grouped and filtered by, besides days. */
export type Grouping = Exclude<Dimension, "day">;

/** In the order in which they are offered. Those of the admin API alone come first. */
export const groupings: Readonly<Record<Grouping, string>> = {
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

const ofEverybody: ReadonlySet<Grouping> = new Set(["organisation", "project", "user"]);

export function groupingsFor(seesAll: boolean): Grouping[] {
  return (Object.keys(groupings) as Grouping[]).filter((grouping) => seesAll || !ofEverybody.has(grouping));
}

export const isGrouping = (text: string | undefined): text is Grouping =>
  text !== undefined && Object.hasOwn(groupings, text);

/** The value of a group, by which calls are filtered; null of calls without one. */
export function groupValue(group: UsageGroup, grouping: Grouping): string | null {
  const value = grouping === "token" ? group.token_id : group[grouping];
  return value ?? null;
}

/** How a value is shown. */
export function groupText(value: string | null, grouping: Grouping): string {
  return value ?? `No ${groupings[grouping].toLowerCase()}`;
}
