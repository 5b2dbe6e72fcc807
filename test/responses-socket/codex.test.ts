/** Codex, if it is installed: over the WebSocket that it opens first, and over HTTP if the gateway offers none. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { cleanEnvironment, simulatedProviders, startGateway, until } from "../kit/index.ts";

const codex = Bun.which("codex");
if (codex === null) console.log("skipped: Codex is not installed (npm install --global @openai/codex)");

describe.skipIf(codex === null)("Codex", () => {
  let simulators: Simulators;
  let folder: string;
  beforeAll(async () => {
    simulators = await startSimulators();
    folder = mkdtempSync(join(tmpdir(), "tollgate-codex-"));
    mkdirSync(join(folder, "project"));
  });
  afterAll(async () => {
    await simulators.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    ["over a WebSocket", true],
    ["over HTTP, after a 426", false],
  ])(
    "answers %s",
    async (_, websocket) => {
      const gateway = await startGateway({
        providers: simulatedProviders(simulators),
        config: { responses: { websocket } },
      });
      try {
        const provider = `name = "Tollgate"\nbase_url = "${gateway.url}/v1"\nenv_key = "TOLLGATE_TOKEN"\nwire_api = "responses"\nsupports_websockets = true`;
        const settings = `model = "openai/gpt-5-mini"\nmodel_provider = "tollgate"\n[model_providers.tollgate]\n${provider}\n`;
        writeFileSync(join(folder, "config.toml"), settings);
        const run = Bun.spawn([codex ?? "codex", "exec", "--skip-git-repo-check", "Say hello"], {
          cwd: join(folder, "project"),
          env: cleanEnvironment({ CODEX_HOME: folder, TOLLGATE_TOKEN: await gateway.token() }),
          stdin: "ignore",
          stdout: "pipe",
          stderr: "ignore",
        });
        expect(await run.stdout.text()).toContain("You said: Say hello");
        const calls = await until("the call is logged", () => {
          const logged = gateway.logLines().filter(({ msg }) => msg === "call");
          return logged.length > 0 && logged;
        });
        expect(calls.map((line) => "parent_id" in line)).toEqual([websocket]);
      } finally {
        await gateway.stop();
      }
    },
    60_000,
  );
});
