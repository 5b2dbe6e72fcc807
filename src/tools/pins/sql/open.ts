import { column, inOneCommit, runnerOf, sql, type Steps, type Storage, tableOf } from "../../../storage/index.ts";
import type { PinnedTool, PinStore } from "../store.ts";

const { text, integer, optional } = column;

const pins = tableOf<PinnedTool>({
  server: text,
  owner: text,
  tool: text,
  definition: text,
  offered: optional(text),
  seenAt: integer,
});

export function openPinStore(storage: Storage): PinStore {
  const runner = runnerOf(storage);
  return {
    all: (server) =>
      runner.rows(
        server === undefined
          ? sql`SELECT ${pins.names} FROM tool_pins ORDER BY server, owner, tool`
          : sql`SELECT ${pins.names} FROM tool_pins WHERE server = ${server} ORDER BY server, owner, tool`,
        pins.read,
      ),
    of: (server, owner) =>
      runner.rows(sql`SELECT ${pins.names} FROM tool_pins WHERE server = ${server} AND owner = ${owner}`, pins.read),
    add: (added) =>
      inOneCommit(storage, function* () {
        for (const pin of added)
          yield sql`INSERT INTO tool_pins (${pins.names}) VALUES (${pins.values(pin)}) ON CONFLICT (server, owner, tool) DO NOTHING`;
      }),
    offer: ({ server, owner, tool, definition }, offered) =>
      runner.run(sql`UPDATE tool_pins SET offered = ${offered ?? null}
        WHERE server = ${server} AND owner = ${owner} AND tool = ${tool} AND definition = ${definition}`),
  };
}

/** The tools of a server whose definitions have changed. */
export function* changedPins(server: string): Steps<PinnedTool[]> {
  const rows = yield sql`SELECT ${pins.names} FROM tool_pins WHERE server = ${server} AND offered IS NOT NULL
    ORDER BY owner, tool`;
  return rows.map((row) => pins.read(row));
}

/** Pins the definition that was shown; resolves with whether it still was the one that is offered. */
export function* approvePin({ server, owner, tool, offered = "" }: PinnedTool): Steps<boolean> {
  const rows = yield sql`UPDATE tool_pins SET definition = ${offered}, offered = NULL
    WHERE server = ${server} AND owner = ${owner} AND tool = ${tool} AND offered = ${offered} RETURNING tool`;
  return rows.length > 0;
}
