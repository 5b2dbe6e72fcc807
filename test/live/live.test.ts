/** The live run itself, with the simulators in the place of the providers: nothing here needs a key. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { cleanEnvironment, root } from "../kit/index.ts";

/** It has the form of no known secret, so that it must be removed by its value. */
const key = "operators.own/key/4711";

const runMsMax = 120_000;

let simulators: Simulators;
let folder: string;
beforeAll(async () => {
  simulators = await startSimulators();
  folder = mkdtempSync(join(tmpdir(), "tollgate-live-"));
  const { openai, anthropic, google } = simulators.providers;
  const providers = {
    openai: { kind: "openai", base_url: openai, api_key: "${LIVE_TEST_KEY}" },
    anthropic: { kind: "anthropic", base_url: anthropic, api_key: "${LIVE_TEST_KEY}", aliases: ["claude"] },
    google: { kind: "google", base_url: google, api_key: "${LIVE_TEST_KEY}" },
    keyless: { kind: "openai", base_url: "https://keyless.invalid/v1", api_key: "${LIVE_TEST_NO_KEY}" },
  };
  writeFileSync(join(folder, "tollgate.yaml"), stringify({ providers }));
});
afterAll(async () => {
  await simulators.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function runLive(args: readonly string[], variables: Record<string, string> = { LIVE_TEST_KEY: key }) {
  const config = ["--config", join(folder, "tollgate.yaml")];
  const child = Bun.spawn([process.execPath, join(root, "test/live/main.ts"), ...config, ...args], {
    cwd: folder,
    env: cleanEnvironment(variables),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, stdout, stderr };
}

const linesOf = (file: string): Record<string, unknown>[] =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("a live run", () => {
  test(
    "plays everything in each dialect, and records it in the format of test/recordings",
    async () => {
      const record = join(folder, "recordings");
      const args = ["--record", record, "--model", "openai/gpt-4.1-mini", "--model", "anthropic/claude-haiku-4-5"];
      const { stdout, stderr, code } = await runLive(args);
      expect(stderr).toBe("");
      expect(stdout).toContain("✓ openai/gpt-4.1-mini, chat, plain\n");
      expect(stdout).toContain("✓ anthropic/claude-haiku-4-5, responses, tools, streamed\n");
      expect(stdout).toContain("✓ the books balance\n");
      // Anthropic's chat completions ignore a schema, as the real ones do.
      const failed = stdout.split("\n").filter((line) => line.startsWith("✗"));
      expect(failed.filter((line) => !/^✗ anthropic.*, structured output:/.test(line))).toEqual([]);
      expect(stdout).toEndWith(`${31 - failed.length} passed, ${failed.length} failed\n`);
      expect(code).toBe(failed.length === 0 ? 0 : 1);

      const index = linesOf(join(record, "index.jsonl"));
      expect(index.length).toBeGreaterThan(30);
      expect(index.map(({ id }) => id)).toEqual(index.map((_, place) => 10_001 + place));
      expect(new Set(index.map(({ upstream, dialect }) => `${String(upstream)} ${String(dialect)}`))).toEqual(
        new Set(["openai chat", "openai responses", "anthropic chat", "anthropic messages"]),
      );
      const [known] = linesOf(join(root, "test/recordings/index.jsonl"));
      for (const row of index) expect(Object.keys(row).toSorted()).toEqual(Object.keys(known ?? {}).toSorted());
      expect(linesOf(join(record, "requests.jsonl"))).toHaveLength(index.length);
      for (const { file, stream } of index) {
        const bytes = readFileSync(join(record, String(file)), "utf8");
        expect(bytes).toMatch(stream === true ? /^(event|data): / : /^\{/);
      }
    },
    runMsMax,
  );

  test("leaves no key in what it writes", () => {
    const record = join(folder, "recordings");
    const files = readdirSync(record, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(30);
    for (const { parentPath, name } of files) {
      const text = readFileSync(join(parentPath, name), "utf8");
      expect(text).not.toContain(key);
      expect(text).not.toMatch(/tg_[a-z0-9]{12}_/);
    }
  });

  test(
    "spends no more than its cap",
    async () => {
      const { code, stdout } = await runLive(["--spend", "0.000001", "--model", "anthropic/claude-haiku-4-5"]);
      expect(code).toBe(1);
      expect(stdout).toContain("402");
      const [, spent = ""] = /([\d.e-]+) of 0\.000001 credits spent/.exec(stdout) ?? [];
      expect(Number(spent)).toBeLessThanOrEqual(0.000001);
    },
    runMsMax,
  );

  test("without a key makes no call", async () => {
    const before = simulators.total();
    const { code, stderr } = await runLive([], {});
    expect(code).toBe(2);
    expect(stderr).toContain("no provider has a key");
    expect(simulators.total()).toBe(before);
  });
});
