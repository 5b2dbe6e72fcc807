/**
 * The official suite with the gateway as the server: what each revision requires, before a server of the other revision, so that
 * every scenario crosses the two.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Rig, startRig } from "../../kit/index.ts";
import { startFixture } from "./fixture.ts";
import { runSuite } from "./suite.ts";

const fixtures = { "2025-11-25": startFixture("2026"), "2026-07-28": startFixture("2025") };
let rig: Rig;
/** Adds the token, which the suite cannot send, and leaves `Host` and `Origin` as they are. */
let proxy: Bun.Server<undefined>;

beforeAll(async () => {
  const servers: Record<string, { url: string }> = {};
  for (const [revision, { url }] of Object.entries(fixtures)) servers[`before-${revision}`] = { url };
  rig = await startRig({ config: { mcp: { servers } } });
  const { token } = await rig.caller();
  proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    fetch(request) {
      const headers = new Headers(request.headers);
      headers.set("authorization", `Bearer ${token}`);
      const { method, body, signal } = request;
      return fetch(`${rig.gateway.url}${new URL(request.url).pathname}`, {
        method,
        headers,
        body,
        signal,
        decompress: false,
      });
    },
  });
});
afterAll(async () => {
  await proxy.stop(true);
  await rig.stop();
  await Promise.all(Object.values(fixtures).map((fixture) => fixture.stop()));
});

/** Required, and not passed: questions of a server to the client's user, log messages, and subscriptions to resources. */
const notPassed: Readonly<Record<keyof typeof fixtures, string[]>> = {
  "2025-11-25": [
    "logging-set-level",
    "tools-call-with-logging",
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "resources-subscribe",
    "resources-unsubscribe",
  ],
  "2026-07-28": [
    "server-stateless",
    "input-required-result-basic-elicitation",
    "input-required-result-basic-sampling",
    "input-required-result-basic-list-roots",
    "input-required-result-request-state",
    "input-required-result-multiple-input-requests",
    "input-required-result-multi-round",
    "input-required-result-non-tool-request",
    "input-required-result-result-type",
    "input-required-result-tampered-state",
    "input-required-result-capability-check",
  ],
};

test.each(["2025-11-25", "2026-07-28"] as const)("the scenarios of %s", async (revision) => {
  const output = join(rig.gateway.folder, revision);
  const url = `http://localhost:${proxy.port}/mcp/before-${revision}`;
  const run = { side: "server", revision, subject: ["--url", url], output } as const;
  const { required, failed } = await runSuite(run, ["FAILURE"]);
  expect(required.length).toBe(revision === "2025-11-25" ? 30 : 37);
  expect(failed).toEqual(notPassed[revision]);
});
