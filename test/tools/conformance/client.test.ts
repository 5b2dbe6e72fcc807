/** The official suite with the gateway as the client: every scenario that the revisions require. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Gateway, startGateway } from "../../kit/index.ts";
import { withKey } from "../ask-as.ts";
import { PUBLIC_URL, type ClientScenario, ScenarioClient } from "./scenario-client.ts";
import { runSuite } from "./suite.ts";

let gateway: Gateway;
let control: Bun.Server<undefined>;
beforeAll(async () => {
  gateway = await startGateway({
    providers: {},
    config: {
      server: { public_url: PUBLIC_URL },
      web: { allow_private_hosts: ["localhost:*", "127.0.0.1:*"] },
      mcp: { servers: {} },
      ...withKey,
    },
  });
  const tokens = {
    owner: await gateway.token({ user: "owner", role: "owner" }),
    token: await gateway.token({ user: "caller" }),
  };
  const client = new ScenarioClient(gateway, tokens);
  control = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      try {
        await client.perform((await request.json()) as ClientScenario);
        return new Response("");
      } catch (thrown) {
        return new Response(String(thrown), { status: 500 });
      }
    },
  });
});
afterAll(async () => {
  await control.stop(true);
  await gateway.stop();
});

test.each([
  ["2025-11-25", 18],
  ["2026-07-28", 32],
])("the scenarios of %s", async (revision, count) => {
  const output = join(gateway.folder, revision);
  const driver = `${process.execPath} ${join(import.meta.dir, "driver.ts")}`;
  const run = { side: "client", revision, subject: ["--command", driver], output } as const;
  const env = { TOLLGATE_SCENARIOS: String(control.url) };
  const { required, failed } = await runSuite({ ...run, env }, ["FAILURE", "WARNING"]);
  expect(required.length).toBe(count);
  expect(failed).toEqual([]);
});
