import { objectOf } from "../../core/index.ts";
import { alertRules } from "../../config/index.ts";
import { insertJob, type NewJob } from "../../jobs/index.ts";
import {
  column,
  inOneCommit,
  runnerOf,
  sql,
  type Statement,
  type Steps,
  type Storage,
  tableOf,
} from "../../storage/index.ts";
import type { Alert } from "../alert.ts";
import type { AlertStore, ProcessReport } from "../store.ts";

const { text, integer, oneOf, json, optional } = column;

const rules = Object.fromEntries(alertRules.map((rule) => [rule, true])) as Record<Alert["rule"], true>;

const table = tableOf({
  id: text,
  rule: oneOf(rules),
  account: text,
  period: text,
  threshold: integer,
  value: text,
  node: text,
  since: integer,
  openedAt: optional(integer),
  goneAt: optional(integer),
});

/** The index of active alerts needs values: NULL is different from NULL. */
const toRow = ({ account = "", period = "", threshold = 0, value, ...rest }: Alert) => ({
  ...rest,
  account,
  period,
  threshold,
  value: JSON.stringify(value),
});

function toAlert({ account, period, threshold, value, ...rest }: ReturnType<typeof table.read>): Alert {
  return {
    ...rest,
    account: account === "" ? undefined : account,
    period: period === "" ? undefined : period,
    threshold: threshold === 0 ? undefined : threshold,
    value: JSON.parse(value) as Alert["value"],
  };
}

const report = json<ProcessReport>({
  parse(value) {
    const { calls, unpriced, shortfall, journal } = objectOf(value) ?? {};
    return {
      calls: (objectOf(calls) ?? {}) as ProcessReport["calls"],
      unpriced: (objectOf(unpriced) ?? {}) as ProcessReport["unpriced"],
      shortfall: Number(shortfall ?? 0),
      journal: Number(journal ?? 0),
    };
  },
});

const reports = tableOf({ process: text, report });

export function openAlertStore(storage: Storage): AlertStore {
  const runner = runnerOf(storage);
  /** The update decides: it changes a row in one process alone. */
  const move = (update: () => Statement, jobs: readonly NewJob[]): Promise<boolean> =>
    inOneCommit(storage, function* (): Steps<boolean> {
      const [row] = yield update();
      if (row === undefined) return false;
      for (const job of jobs) yield insertJob(job);
      return true;
    });
  return {
    active: () =>
      runner.rows(sql`SELECT ${table.names} FROM alerts WHERE closed_at IS NULL ORDER BY since, id`, (row) =>
        toAlert(table.read(row)),
      ),
    add: (alert) =>
      runner.run(sql`INSERT INTO alerts (${table.names}) VALUES (${table.values(toRow(alert))})
        ON CONFLICT (rule, account, period, threshold) WHERE closed_at IS NULL DO NOTHING`),
    setGone: (id, goneAt) => runner.run(sql`UPDATE alerts SET gone_at = ${goneAt} WHERE id = ${id}`),
    open: (id, at, jobs) =>
      move(
        () => sql`UPDATE alerts SET opened_at = ${at}
        WHERE id = ${id} AND opened_at IS NULL AND closed_at IS NULL RETURNING id`,
        jobs,
      ),
    close: (id, at, jobs) =>
      move(
        () => sql`UPDATE alerts SET closed_at = ${at}
        WHERE id = ${id} AND opened_at IS NOT NULL AND closed_at IS NULL RETURNING id`,
        jobs,
      ),
    drop: (id) => runner.run(sql`DELETE FROM alerts WHERE id = ${id} AND opened_at IS NULL`),
    putReport: (process, at, current) =>
      runner.run(sql`INSERT INTO alert_reports (process, reported_at, report)
        VALUES (${process}, ${at}, ${report.write(current)})
        ON CONFLICT (process) DO UPDATE SET reported_at = excluded.reported_at, report = excluded.report`),
    async reportsSince(at) {
      const statement = sql`SELECT ${reports.names} FROM alert_reports WHERE reported_at >= ${at} ORDER BY process`;
      const rows = await runner.rows(statement, reports.read);
      return new Map(rows.map((row) => [row.process, row.report]));
    },
    async deleteBefore({ closedAt, reportedAt }) {
      await runner.run(sql`DELETE FROM alerts WHERE closed_at < ${closedAt}`);
      await runner.run(sql`DELETE FROM alert_reports WHERE reported_at < ${reportedAt}`);
    },
  };
}
