/** Compares the charges of a running gateway with LiteLLM's table: each difference needs a reason. */
import { z } from "zod";
import type { JsonObject } from "../../../src/core/index.ts";
import { chargeCases } from "./charge-cases.ts";
import { reasonFor } from "./reasons.ts";
import { comparedProviders, type ComparisonScene, pathFor, startComparison } from "./scene.ts";
import { pricesShown, shownPrices } from "./shown-prices.ts";

interface Row {
  provider: string;
  name: string;
  row: JsonObject;
}

interface Difference {
  provider: string;
  name: string;
  price: string;
  litellm: string;
  gateway: string;
  reason: string | undefined;
}

interface Compared {
  expected: readonly number[];
  found: readonly number[];
  /** The price that the gateway shows, or its refusal. */
  gateway: string;
  /** The relative difference that is none. */
  rounding: number;
}

const ROUNDING = 1e-6;

/** LiteLLM writes prices of an hour or a minute as those of a second, with four digits. */
const SECOND_ROUNDING = 5e-4;

const table = z.record(z.string(), z.record(z.string(), z.unknown()));

/** Runs the comparison, prints every difference, and resolves to whether each of them has a reason. */
export async function compareWithLitellm({ version, text }: { version: string; text: string }): Promise<boolean> {
  const rows = Object.entries(table.parse(JSON.parse(text))).flatMap(([key, row]) => rowOf(key, row));
  const names = new Map(
    [...Map.groupBy(rows, ({ provider }) => provider)].map(([id, own]) => [id, own.map(({ name }) => name)]),
  );
  const scene = await startComparison(names);
  const comparison = new Comparison(scene);
  try {
    for (const row of rows) await comparison.charges(row);
    const shown = await scene.shown();
    for (const row of rows) comparison.shown(row, shown);
  } finally {
    await scene.stop();
  }
  comparison.print(version);
  return comparison.differences.every(({ reason }) => reason !== undefined);
}

/** The row of a model of a compared provider; none for a price of a size or of a tool. */
function rowOf(key: string, row: JsonObject): Row[] {
  const litellm = String(row["litellm_provider"]);
  const compared = comparedProviders[litellm];
  if (compared === undefined) return [];
  const name = key.startsWith(`${litellm}/`) ? key.slice(litellm.length + 1) : key;
  const isOfSize = row["mode"] === "image_generation" && name.includes("/");
  return isOfSize ? [] : [{ provider: compared.provider, name, row }];
}

class Comparison {
  readonly differences: Difference[] = [];
  #same = 0;
  readonly #scene: ComparisonScene;

  constructor(scene: ComparisonScene) {
    this.#scene = scene;
  }

  /** Asks for answers with each kind of token of the row. */
  async charges({ provider, name, row }: Row): Promise<void> {
    const path = pathFor(provider, String(row["mode"]));
    if (path === undefined) return;
    for (const asked of chargeCases(row)) {
      const charged = await this.#scene.charge(path, `${provider}/${name}`, asked);
      const found = "credits" in charged ? [charged.credits] : [];
      const gateway = "credits" in charged ? String(charged.credits) : charged.refused;
      this.#note(
        { provider, name, price: asked.title },
        { expected: asked.expected, found, gateway, rounding: ROUNDING },
      );
    }
  }

  /** Reads the prices of the row that no call of text shows. */
  shown({ provider, name, row }: Row, models: ReadonlyMap<string, unknown>): void {
    for (const { key, theirs, expected } of shownPrices(row)) {
      const found = pricesShown(models.get(`${provider}/${name}`), key);
      const gateway = found.length === 0 ? "no price" : found.join(" or ");
      const rounding = theirs.endsWith("_per_second") ? SECOND_ROUNDING : ROUNDING;
      this.#note({ provider, name, price: `${theirs} as ${key}` }, { expected: [expected], found, gateway, rounding });
    }
  }

  #note(
    place: Pick<Difference, "provider" | "name" | "price">,
    { expected, found, gateway, rounding }: Compared,
  ): void {
    if (found.some((credits) => expected.some((each) => isSame(credits, each, rounding)))) this.#same += 1;
    else {
      const litellm = expected.map((each) => Number(each.toPrecision(8))).join(" or ");
      this.differences.push({ ...place, litellm, gateway, reason: reasonFor(place.provider, place.name) });
    }
  }

  print(version: string): void {
    for (const { provider, name, price, litellm, gateway, reason } of this.differences) {
      console.log(`${provider}/${name}, ${price}: litellm ${litellm}, gateway ${gateway.slice(0, 60)}`);
      console.log(`  ${reason ?? "NO REASON"}`);
    }
    const bare = this.differences.filter(({ reason }) => reason === undefined).length;
    console.log(
      `\nlitellm ${version}: ${this.#same} prices are the same, ${this.differences.length} differ, ${bare} without a reason`,
    );
  }
}

/** The gateway rounds up to a billionth of a credit. */
function isSame(credits: number, expected: number, rounding: number): boolean {
  return Math.abs(credits - expected) <= 2e-9 + expected * rounding;
}
