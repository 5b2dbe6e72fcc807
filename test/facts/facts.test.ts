/**
 * The facts about models and the simulators agree: a request that a model's simulator refuses, the gateway changes, names in
 * `x-tollgate-changes` and gets an answer for; one that it takes, the gateway leaves alone. The two know nothing of each other.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { factNames } from "../../src/core/index.ts";
import { createProvider, type FactRow, factRows, isAbout } from "../../src/providers/index.ts";
import { chatPath, messagesPath, post, responsesPath, type Rig, simulatedKey, startRig } from "../kit/index.ts";
import { type Probe, probesWith } from "./probes.ts";
import { type Sampled, sampled } from "./sampled-models.ts";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const images = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(Buffer.from(png, "base64")) });
const probes = probesWith(images.url.href);

let rig: Rig;
let token: string;
beforeAll(async () => {
  rig = await startRig({
    config: {
      upstream: { retries: 0 },
      web: { allow_private_hosts: [images.url.host] },
      pricing: { models: { "*": { input_mtok: 1, output_mtok: 2 } } },
    },
    providers: ({ providers }) => {
      const base_url = providers["openai-compatible"];
      const presets = ["groq", "moonshot", "perplexity", "vllm", "ollama", "openrouter"] as const;
      const entry = { kind: "openai-compatible", base_url, api_key: simulatedKey };
      return { generic: entry, ...Object.fromEntries(presets.map((preset) => [preset, { ...entry, preset }])) };
    },
  });
  ({ token } = await rig.caller());
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
  await images.stop(true);
});

const paths = { chat: chatPath, messages: messagesPath, responses: responsesPath } as const;

/** The status of the same request straight at the simulator. */
async function refusedBy({ simulator, model, upstream }: Sampled, { dialect, body }: Probe) {
  const baseUrl = rig.simulators.providers[simulator];
  const operation = createProvider({ ...upstream, baseUrl }).operations[dialect];
  const url = `${operation?.baseUrl ?? baseUrl}${operation?.path ?? ""}`;
  const headers = {
    "content-type": "application/json",
    authorization: `Bearer ${simulatedKey}`,
    "x-api-key": simulatedKey,
    "anthropic-version": "2023-06-01",
  };
  const answer = await fetch(url, { method: "POST", headers, body: JSON.stringify({ ...body, model }) });
  const text = await answer.text();
  return answer.ok ? undefined : text;
}

describe.each(sampled)("$prefix/$model", (one) => {
  test("is asked for what it takes", async () => {
    const { operations } = createProvider({ ...one.upstream, baseUrl: "https://upstream.example" });
    for (const probe of probes) {
      const { dialect, facts, title, body } = probe;
      if (operations[dialect] === undefined || one.skips?.some((skipped) => title.startsWith(skipped)) === true)
        continue;
      const refused = await refusedBy(one, probe);
      const answer = await post(rig, paths[dialect], token, { ...body, model: `${one.prefix}/${one.model}` });
      const text = await answer.text();
      const named = answer.headers.get("x-tollgate-changes")?.split(", ") ?? [];
      // No simulator refuses these.
      const changes = named.filter((name) => name !== "answer");
      const why = `${title} in ${dialect}: ${refused ?? "taken"} | ${text.slice(0, 300)}`;
      expect([answer.status, changes.length > 0], why).toEqual([200, refused !== undefined]);
      expect(
        changes.filter((name) => !facts.some((fact) => fact === name)),
        why,
      ).toEqual([]);
    }
  });
});

test("every row is asked of a model", () => {
  const unasked = Object.entries(factRows).flatMap(([upstream, rows]) => {
    const models = sampled.filter((one) => one.upstreamName === upstream).map(({ model }) => model);
    return rows
      .filter((row) => !models.some((model) => counts(rows, row, model)))
      .map(({ fact, models: globs = ["*"] }) => `${upstream}: ${fact} of ${globs.join(", ")}`);
  });
  expect(unasked).toEqual([]);
});

/** Whether a row counts for a model in some dialect. */
function counts(rows: readonly FactRow[], row: FactRow, model: string): boolean {
  return (["chat", "messages", "responses"] as const).some((dialect) => {
    const own = rows.filter(({ fact, dialects }) => fact === row.fact && (dialects?.includes(dialect) ?? true));
    return own.find((each) => isAbout(each, model)) === row;
  });
}

test("the header is at most 1 KiB, if it names all facts", () => {
  expect(factNames.join(", ").length).toBeLessThan(1_024);
});
