import { listOf, objectOf } from "../../core/index.ts";
import { column, runnerOf, sql, type Storage, tableOf } from "../../storage/index.ts";
import type { Node, NodeAnswer, NodeAsk, NodeOutcome, NodeStore } from "../store.ts";

const { text, integer, json, optional } = column;

const fingerprint = json<Node["fingerprint"]>({
  parse: (value) =>
    Object.fromEntries(
      Object.entries(objectOf(value) ?? {}).flatMap(([part, hash]) => (typeof hash === "string" ? [[part, hash]] : [])),
    ),
});

const asked = json<NodeAsk>({
  parse(value) {
    const { id, force, check } = objectOf(value) ?? {};
    return { id: typeof id === "string" ? id : "", force: force === true, check: check === true };
  },
});

function readAnswer(value: unknown): NodeAnswer {
  const { id, result } = objectOf(value) ?? {};
  return { id: typeof id === "string" ? id : "", result: objectOf(result) ?? {} };
}

/** That of a node of an earlier version has none before it. */
const outcome = json<NodeOutcome>({
  parse: (value) => ({
    ...readAnswer(value),
    earlier: (listOf(objectOf(value)?.["earlier"]) ?? []).map(readAnswer),
  }),
});

const nodes = tableOf<Node>({
  name: text,
  host: text,
  pid: integer,
  version: text,
  port: optional(integer),
  startedAt: integer,
  seenAt: integer,
  fingerprint,
  fingerprintAt: integer,
  asked: optional(asked),
  outcome: optional(outcome),
});

export function openNodeStore(storage: Storage): NodeStore {
  const runner = runnerOf(storage);
  return {
    announce: (node) =>
      runner.run(sql`INSERT INTO nodes (${nodes.names}) VALUES (${nodes.values(node)})
        ON CONFLICT (name) DO UPDATE SET host = excluded.host, pid = excluded.pid, version = excluded.version, port = excluded.port,
          started_at = excluded.started_at, seen_at = excluded.seen_at, fingerprint = excluded.fingerprint,
          fingerprint_at = excluded.fingerprint_at, asked = excluded.asked, outcome = excluded.outcome`),
    beat: (name, at, current) =>
      runner.first(
        sql`UPDATE nodes SET seen_at = ${at}, fingerprint = ${fingerprint.write(current)},
            fingerprint_at = CASE WHEN fingerprint = ${fingerprint.write(current)} THEN fingerprint_at ELSE ${at} END
          WHERE name = ${name}
          RETURNING ${nodes.names}`,
        nodes.read,
      ),
    seenSince: (at) =>
      runner.rows(sql`SELECT ${nodes.names} FROM nodes WHERE seen_at >= ${at} ORDER BY name`, nodes.read),
    ask: (name, request) =>
      runner.hasRows(
        sql`UPDATE nodes SET asked = ${asked.write(request)} WHERE name = ${name} AND asked IS NULL RETURNING name`,
      ),
    answer: (name, result) =>
      runner.run(sql`UPDATE nodes SET asked = NULL, outcome = ${outcome.write(result)} WHERE name = ${name}`),
    leave: (name) => runner.run(sql`DELETE FROM nodes WHERE name = ${name}`),
    deleteBefore: (at) => runner.run(sql`DELETE FROM nodes WHERE seen_at < ${at}`),
  };
}
