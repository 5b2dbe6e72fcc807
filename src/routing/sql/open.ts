import {
  column,
  firstOf,
  runnerOf,
  sql,
  type Statement,
  type Steps,
  type Storage,
  tableOf,
} from "../../storage/index.ts";
import type { TargetOverride, TargetState, TargetStore } from "../shared/store.ts";

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
    putState: (state) => runner.run(putState(state)),
    statesSince: (changedAt) =>
      runner.rows(
        sql`SELECT ${states.names} FROM target_states WHERE changed_at >= ${changedAt} ORDER BY changed_at, id`,
        states.read,
      ),
    removeStatesBefore: (changedAt) =>
      runner.run(sql`DELETE FROM target_states
        WHERE changed_at < ${changedAt} AND kind <> 'refused'`),
    overrides: (now) =>
      runner.rows(
        sql`SELECT ${overrides.names} FROM target_overrides
          WHERE until IS NULL OR until > ${now} ORDER BY target`,
        overrides.read,
      ),
  };
}

export function putState(state: TargetState): Statement {
  return sql`INSERT INTO target_states (${states.names}) VALUES (${states.values(state)})
    ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, open_until = excluded.open_until,
      pause_ms = excluded.pause_ms, process = excluded.process, changed_at = excluded.changed_at`;
}

export function findOverride(target: string, now: number): Steps<TargetOverride | undefined> {
  return firstOf(
    sql`SELECT ${overrides.names} FROM target_overrides
      WHERE target = ${target} AND (until IS NULL OR until > ${now})`,
    overrides.read,
  );
}

export function putOverride(override: TargetOverride): Statement {
  return sql`INSERT INTO target_overrides (${overrides.names}) VALUES (${overrides.values(override)})
    ON CONFLICT (target) DO UPDATE SET until = excluded.until, reason = excluded.reason,
      actor = excluded.actor, created_at = excluded.created_at`;
}

export function deleteOverride(target: string): Statement {
  return sql`DELETE FROM target_overrides WHERE target = ${target}`;
}
