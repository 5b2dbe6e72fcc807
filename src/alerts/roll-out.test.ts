/** Nodes that get another configuration one after the other are one notice, or none. */
import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { openStorage } from "../../test/kit/storage.ts";
import { query } from "../../test/kit/engines.ts";
import { checkConfig } from "../config/index.ts";
import { differenceOf, openNodeStore } from "../nodes/index.ts";
import { AlertBook } from "./alert-book.ts";
import type { Crossing } from "./alert.ts";
import { openAlertStore } from "./sql/open.ts";

const NODES = ["h:1", "h:2", "h:3", "h:4"];
const BEAT_MS = 5_000;

/** The messages about a roll-out with so many milliseconds between two nodes, with a look at each beat. */
async function messagesOf(pauseMs: number): Promise<string[]> {
  await using storage = Object.assign(await openStorage("sqlite::memory:"), {
    async [Symbol.asyncDispose]() {
      await storage.close();
    },
  });
  const nodes = openNodeStore(storage);
  const { alerts } = checkConfig({
    alerts: {
      channels: { hook: { kind: "webhook", url: "https://hooks.test/a", secret: `whsec_${btoa("x".repeat(24))}` } },
    },
  });
  if (alerts === undefined) throw new Error("there are alerts");
  const silent = { info: () => undefined, warn: () => undefined };
  const shared = { config: alerts, store: openAlertStore(storage), randomBytes, logger: silent };
  const book = new AlertBook({ ...shared, node: "h:1", onScheduled: () => undefined });
  for (const name of NODES) {
    const node = { name, host: "h", pid: 1, version: "1", port: undefined, asked: undefined, outcome: undefined };
    await nodes.announce({
      ...node,
      startedAt: 0,
      seenAt: 0,
      fingerprint: { prices: "old", routes: "old" },
      fingerprintAt: 0,
    });
  }
  const endsAt = NODES.length * pauseMs + 5 * 60_000;
  for (let at = BEAT_MS; at < endsAt; at += BEAT_MS) {
    for (const [index, name] of NODES.entries()) {
      // Its routes come a beat later, so that what differs changes too.
      const prices = at > (index + 1) * pauseMs ? "new" : "old";
      const routes = at > (index + 1) * pauseMs + BEAT_MS ? "new" : "old";
      await nodes.beat(name, at, { prices, routes });
    }
    const found = await differenceOf(nodes, at);
    const crossings: Crossing[] = found === undefined ? [] : [{ rule: "nodes_differ", value: found.parts.join(", ") }];
    await book.settle(new Set(["nodes_differ"]), crossings, at);
  }
  const rows = await query<{ payload: string }>(storage, "SELECT payload FROM jobs ORDER BY created_at, id");
  return rows.map(
    ({ payload }) => (JSON.parse((JSON.parse(payload) as { body: string }).body) as { type: string }).type,
  );
}

test.each([
  ["ten seconds", 10_000, []],
  ["a minute and a half", 90_000, ["alert.opened", "alert.closed"]],
  ["ten minutes", 600_000, ["alert.opened", "alert.closed"]],
])("with %s between the nodes", async (_, pauseMs, types) => {
  expect(await messagesOf(pauseMs)).toEqual(types);
});
