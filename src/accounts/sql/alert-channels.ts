import { column, sql, type Statement, tableOf } from "../../storage/index.ts";

/** An address of a user or project, which gets messages about the use of their own budgets. */
export interface OwnAlertChannel {
  id: string;
  /** The user's id, or `project:<id>`. */
  owner: string;
  url: string;
  /** Of this one alone; undefined for all own ones. */
  budgetId: string | undefined;
  /** Whole percent of a budget, ascending. */
  thresholds: readonly number[];
  createdAt: number;
}

const { text, integer, json, optional } = column;

const percents = json({ parse: (value): readonly number[] => (Array.isArray(value) ? value.map(Number) : []) });

export const alertChannels = tableOf<OwnAlertChannel>({
  id: text,
  owner: text,
  url: text,
  budgetId: optional(text),
  thresholds: percents,
  createdAt: integer,
});

export const selectAlertChannelsOf = (owner: string): Statement =>
  sql`SELECT ${alertChannels.names} FROM alert_channels WHERE owner = ${owner} ORDER BY id`;

export function insertAlertChannel(channel: OwnAlertChannel): Statement {
  return sql`INSERT INTO alert_channels (${alertChannels.names}) VALUES (${alertChannels.values(channel)})`;
}

export const deleteAlertChannel = (id: string): Statement => sql`DELETE FROM alert_channels WHERE id = ${id}`;

export const deleteAlertChannelsOf = (owner: string): Statement =>
  sql`DELETE FROM alert_channels WHERE owner = ${owner}`;
