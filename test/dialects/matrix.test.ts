/** Each client's dialect in front of each kind of provider, by the official SDKs: the table in `matrix/table.ts`. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Rig, simulatedKey, startRig } from "../kit/index.ts";
import { Cell } from "./matrix/cell.ts";
import { plays } from "./matrix/scenarios.ts";
import { clients, exceptions, type Scenario, upstreams } from "./matrix/table.ts";

let rig: Rig;
let token: string;
beforeAll(async () => {
  rig = await startRig({
    config: { upstream: { retries: 0 } },
    providers: ({ providers }) => ({
      stored: { kind: "openai", base_url: providers.openai, api_key: simulatedKey, dialects: ["responses"] },
      native: { kind: "anthropic", base_url: providers.anthropic, api_key: simulatedKey, dialects: ["messages"] },
      own: { kind: "google", base_url: providers.google, api_key: simulatedKey, dialects: ["gemini"] },
    }),
  });
  ({ token } = await rig.caller());
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const used = new Set<unknown>();

describe.each([...clients])("a client of %s", (client) => {
  describe.each(upstreams.map((upstream) => [upstream.title, upstream] as const))("before %s", (_, upstream) => {
    test.concurrent.each(Object.keys(plays) as Scenario[])("%s", async (scenario) => {
      const cell = new Cell({ rig, token, scenario, client, upstream });
      for (const exception of cell.exceptions) used.add(exception);
      await plays[scenario](cell);
    });
  });
});

test("every exception of the table is met", () => {
  expect(exceptions.filter((one) => !used.has(one))).toEqual([]);
});
