import { column, runnerOf, sql, type Storage, tableOf } from "../../storage/index.ts";
import type { TargetStore } from "../shared/store.ts";

const { text, integer, oneOf, optional } = column;

const states = tableOf({
  id: text,
  kind: oneOf({ open: true, works: true, refused: true, repaired: true }),
  openUntil: integer,
  pauseMs: integer,
  process: text,
  changedAt: integer,
});

const overrides = tableOf({
  target: text,
  until: optional(integer),
  reason: optional(text),
  actor: text,
  createdAt: integer,
});

/** The store of changes of targets and keys, and of the operator's decisions about targets. */
export function openTargetStore(storage: Storage): TargetStore {
  const runner = runnerOf(storage);
  return {
    putState: (state) =>
      runner.run(sql`INSERT INTO target_states (${states.names}) VALUES (${states.values(state)})
        ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, open_until = excluded.open_until,
          pause_ms = excluded.pause_ms, process = excluded.process, changed_at = excluded.changed_at`),
    statesSince: (changedAt) =>
      runner.rows(
        sql`SELECT ${states.names} FROM target_states WHERE changed_at >= ${changedAt} ORDER BY changed_at, id`,
        states.read,
      ),
    removeStatesBefore: (changedAt) =>
      runner.run(sql`DELETE FROM target_states
        WHERE changed_at < ${changedAt} AND kind <> 'refused'`),
    putOverride: (override) =>
      runner.run(sql`INSERT INTO target_overrides (${overrides.names}) VALUES (${overrides.values(override)})
        ON CONFLICT (target) DO UPDATE SET until = excluded.until, reason = excluded.reason,
          actor = excluded.actor, created_at = excluded.created_at`),
    removeOverride: (target) =>
      runner.hasRows(sql`DELETE FROM target_overrides WHERE target = ${target} RETURNING target`),
    overrides: (now) =>
      runner.rows(
        sql`SELECT ${overrides.names} FROM target_overrides
          WHERE until IS NULL OR until > ${now} ORDER BY target`,
        overrides.read,
      ),
  };
}
