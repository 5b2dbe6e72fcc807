/** Set-up shared by several test files: started before their first test and stopped after the last. */
import { afterAll, beforeAll, expect } from "bun:test";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { expectCleanAudit } from "./books.ts";
import { type GatedUpstream, startGatedUpstream } from "./gated-upstream.ts";
import { type Gateway, type GatewayOptions, startGateway, stopGateways } from "./gateway.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";
import { until } from "./until.ts";

/** A Postgres for the tests of a file; behind the last one, the gateways that a failed test has left are ended, then it. */
export function sharedPostgres(): Pick<PostgresServer, "createDatabase" | "createEmptyDatabase"> {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await stopGateways();
    await server?.stop();
  });
  return {
    createDatabase: () => started(server).createDatabase(),
    createEmptyDatabase: () => started(server).createEmptyDatabase(),
  };
}

/** A gateway whose `openai/` models are those of an upstream that waits; both exist once the tests run. */
interface GatedGateway {
  readonly gateway: Gateway;
  readonly upstream: GatedUpstream;
}

/** One for the tests of a file or of a `describe`. Behind the last one its books must balance, and it must end well. */
export function sharedGatedGateway(
  optionsOf: () => Partial<GatewayOptions> | Promise<Partial<GatewayOptions>> = () => ({}),
) {
  let upstream: GatedUpstream | undefined;
  let gateway: Gateway | undefined;
  beforeAll(async () => {
    upstream = startGatedUpstream();
    const options = await optionsOf();
    const openai = { kind: "openai", base_url: upstream.url, api_key: "unused" };
    gateway = await startGateway({
      config: { upstream: { retries: 0 } },
      ...options,
      providers: { openai, ...options.providers },
    });
  });
  afterAll(async () => {
    try {
      upstream?.release();
      const { storage } = started(gateway);
      await until("no hold is open", async () => (await openLedgerStore(storage).openHolds()).length === 0);
      await expectCleanAudit(started(gateway));
      expect(await started(gateway).stop()).toBe(0);
    } finally {
      await stopGateways();
      await upstream?.stop();
    }
  });
  const shared: GatedGateway = {
    get gateway() {
      return started(gateway);
    },
    get upstream() {
      return started(upstream);
    },
  };
  return shared;
}

function started<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error("it is started before the first test, not earlier");
  return thing;
}
