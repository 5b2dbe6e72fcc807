/** Prices in force, their origin, and the operator's catalog, in real gateways on one storage. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/shared/steps.ts";
import { type Gateway, startGateway, until } from "../kit/index.ts";

interface PriceRow {
  id: string;
  prices: Record<string, unknown>;
  layer: string;
  source: string | null;
  made: string | null;
}

/** Serves catalogs, and the models' list of an upstream. */
let server: Bun.Server<undefined>;
let served: { body: string; status?: number };
let gateway: Gateway | undefined;
const folders: string[] = [];

const catalogOf = (input: number, made?: string): string =>
  JSON.stringify({
    format: 1,
    made,
    providers: {
      openai: { models: { "gpt-4o": { prices: { input_mtok: input, output_mtok: 20 }, source: "a test" } } },
    },
  });

beforeAll(() => {
  server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: ({ url }) =>
      url.endsWith("/models")
        ? Response.json({
            object: "list",
            data: ["gpt-4o", "gpt-4o-2024-08-06", "gpt-9-invented"].map((id) => ({ id })),
          })
        : new Response(served.body, { status: served.status ?? 200 }),
  });
});
afterAll(async () => {
  await server.stop(true);
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
afterEach(async () => {
  await gateway?.stop({ keepFolder: true });
  gateway = undefined;
});

const address = (): string => `http://127.0.0.1:${server.port}/catalog.json`;

async function start(pricing: object, folder?: string): Promise<Gateway> {
  const base = `http://127.0.0.1:${server.port}`;
  gateway = await startGateway({
    providers: { openai: { kind: "openai", base_url: base, api_key: "sk-test" } },
    config: { pricing },
    ...(folder === undefined ? {} : { folder }),
  });
  folders.push(gateway.folder);
  return gateway;
}

async function quoted(from: Gateway, model: string): Promise<Record<string, unknown> | undefined> {
  const headers = { authorization: `Bearer ${await from.token()}` };
  const list = (await (await fetch(`${from.url}/v1/models`, { headers })).json()) as {
    data: { id: string; pricing?: Record<string, unknown> }[];
  };
  return list.data.find(({ id }) => id === model)?.pricing;
}

describe("the operator's catalog", () => {
  test("prices models over the built-in one, and outlives its address and a restart", async () => {
    served = { body: catalogOf(7) };
    const first = await start({ catalog: address() });
    expect(await quoted(first, "openai/gpt-4o")).toMatchObject({ input_mtok: 7, output_mtok: 20 });
    await first.stop({ keepFolder: true });

    served = { body: "gone", status: 410 };
    const second = await start({ catalog: address(), catalog_refresh: "1s" }, first.folder);
    expect(await quoted(second, "openai/gpt-4o")).toMatchObject({ input_mtok: 7 });
    const refused = await until("the refusal", async () =>
      second.logLines().find(({ msg }) => String(msg).startsWith("the price catalog was refused")),
    );
    expect(refused).toMatchObject({ catalog: address(), reason: "its address answered 410" });
    expect(await quoted(second, "openai/gpt-4o")).toMatchObject({ input_mtok: 7 });
  });

  test("that is bad leaves the built-in prices, and the log has its reason", async () => {
    served = { body: JSON.stringify({ format: 1, providers: {}, surprise: true }) };
    const only = await start({ catalog: address() });
    expect(await quoted(only, "openai/gpt-4o")).toMatchObject({ input_mtok: 2.5, output_mtok: 10 });
    const refused = await until("the refusal", async () =>
      only.logLines().find(({ catalog }) => catalog === address()),
    );
    expect(String(refused["reason"])).toContain("surprise");
  });
});

describe("tollgate models prices", () => {
  const rowOf = async (from: Gateway, id: string): Promise<PriceRow | undefined> => {
    const { code, stdout } = await from.cli("models", "prices", "--json");
    expect(code).toBe(0);
    return (JSON.parse(stdout) as PriceRow[]).find((row) => row.id === id);
  };

  test("shows the layer that each price comes from", async () => {
    served = { body: catalogOf(7) };
    const both = await start({ catalog: address(), models: { "openai/gpt-4.1": { input_mtok: 3 } } });
    expect(await rowOf(both, "openai/gpt-4o")).toEqual({
      id: "openai/gpt-4o",
      prices: { input_mtok: 7, output_mtok: 20 },
      layer: `catalog ${address()}`,
      source: "a test",
      made: null,
    });
    expect(await rowOf(both, "openai/gpt-4.1")).toMatchObject({
      layer: "config",
      made: null,
      prices: { input_mtok: 3, output_mtok: 8 },
    });
    expect(await rowOf(both, "openai/gpt-4.1-nano")).toMatchObject({ layer: "built-in", prices: { input_mtok: 0.1 } });
    const { stdout } = await both.cli("models", "prices");
    expect(stdout).toMatch(/^MODEL +PRICES +LAYER +SOURCE$/m);
  });

  test("a published catalog tells its day, and gateway and commands its age", async () => {
    const made = new Date().toISOString().slice(0, 10);
    const builtIn = JSON.parse(await Bun.file(join(root, "src/pricing/catalog/catalog.json")).text()) as object;
    served = { body: JSON.stringify({ ...builtIn, made }) };
    const fresh = await start({ catalog: address() });
    const layer = `catalog ${address()}`;
    const logged = await until("the age", async () =>
      fresh.logLines().find(({ msg }) => msg === "the price catalog in force"),
    );
    // Today's, unless midnight has passed meanwhile.
    expect(logged).toMatchObject({ catalog: layer, made });
    expect([0, 1]).toContain(Number(logged["days"]));
    expect(await rowOf(fresh, "openai/gpt-4.1")).toMatchObject({ layer, made });
    const { stdout } = await fresh.cli("models", "prices");
    expect(stdout.trimEnd().split("\n").at(-1)).toMatch(
      new RegExp(`^prices of ${made} \\(${layer}\\), [01] days? old$`),
    );
    const findings = JSON.parse((await fresh.cli("doctor", "--json")).stdout) as {
      check: string;
      ok: boolean;
      detail: string;
    }[];
    const found = findings.find(({ check }) => check === "prices");
    expect(found?.ok).toBe(true);
    expect(found).not.toHaveProperty("warning");
    expect(found?.detail).toStartWith(`prices of ${made} `);
  });

  test("reads a catalog from a file", async () => {
    const file = await start({ catalog: "prices.json" });
    const path = join(file.folder, "prices.json");
    writeFileSync(path, catalogOf(8));
    await file.stop({ keepFolder: true });
    const again = await start({ catalog: path }, file.folder);
    expect(await rowOf(again, "openai/gpt-4o")).toMatchObject({ prices: { input_mtok: 8 }, layer: `catalog ${path}` });
  });

  test("--check lists the models that the routed providers offer without a price, and exits with 1", async () => {
    const plain = await start({});
    const { code, stdout } = await plain.cli("models", "prices", "--check");
    expect([code, stdout]).toEqual([1, "openai/gpt-9-invented\n3 models of 1 providers, 1 without a price\n"]);
    const json = await plain.cli("models", "prices", "--check", "--json");
    expect([json.code, JSON.parse(json.stdout)]).toEqual([
      1,
      { models: 3, unpriced: ["openai/gpt-9-invented"], failed: [] },
    ]);
    await plain.stop({ keepFolder: true });

    const priced = await start({ models: { "openai/gpt-9-*": { input_mtok: 1, output_mtok: 1 } } });
    const all = await priced.cli("models", "prices", "--check");
    expect([all.code, all.stdout]).toEqual([0, "3 models of 1 providers, 0 without a price\n"]);
  });

  test("--check --sandbox asks the simulators", async () => {
    const plain = await start({});
    const { code, stdout } = await plain.cli("models", "prices", "--check", "--sandbox", "--json");
    expect([code, (JSON.parse(stdout) as { unpriced: string[] }).unpriced]).toEqual([1, ["openai/gpt-9-invented"]]);
  });
});
