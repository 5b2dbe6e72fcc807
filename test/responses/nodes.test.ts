/** Two nodes on one Postgres: responses of one exist at the other. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import {
  endOf,
  type Gateway,
  type PostgresServer,
  query,
  responseIn,
  responsesPath,
  simulatedProviders,
  startNodes,
  startPostgres,
  stopGateways,
  type Talker,
  talker,
  textIn,
  until,
} from "../kit/index.ts";

let simulators: Simulators;
let postgres: PostgresServer;
let nodes: Gateway[];
let users: Talker[];

beforeAll(async () => {
  [simulators, postgres] = await Promise.all([startSimulators(), startPostgres()]);
  nodes = await startNodes(2, { storage: await postgres.createDatabase(), providers: simulatedProviders(simulators) });
  const token = await at(nodes, 0).token({ user: "alice" });
  users = nodes.map(({ url }) => talker(url, token));
});
afterAll(async () => {
  await stopGateways();
  await simulators.stop();
  await postgres.stop();
});

function at<T>(list: readonly T[], index: number): T {
  const one = list[index % list.length];
  if (one === undefined) throw new Error("there is none");
  return one;
}

test.each(["openai/gpt-4o-mini", "deepseek/deepseek-chat"])(
  "%s: as soon as a stream ends at one node, the other finds and continues it",
  async (model) => {
    let previous: string | undefined;
    for (let round = 0; round < 50; round += 1) {
      const more = round % 5 === 0 || previous === undefined ? {} : { previous_response_id: previous };
      const body = { model, input: `round ${round}`, stream: true, ...more };
      const { response, reader } = await endOf(await at(users, round).send(responsesPath, { body }));
      const found = await at(users, round + 1).ask(`${responsesPath}/${response.id}`);
      expect([round, found.status, responseIn(found).output]).toEqual([round, 200, response.output]);
      expect(textIn(response)).toContain(`You said: round ${round}.`);
      await reader.rest();
      previous = response.id;
    }
  },
  30_000,
);

test("a response deleted at one node does not exist at the other", async () => {
  const body = { model: "deepseek/deepseek-chat", input: "hi" };
  const { id } = responseIn(await at(users, 0).ask(responsesPath, { body }));
  expect((await at(users, 1).ask(`${responsesPath}/${id}`, { method: "DELETE" })).status).toBe(200);
  expect((await at(users, 0).ask(`${responsesPath}/${id}`)).status).toBe(404);
});

test("expired responses are deleted when a node starts, without a request", async () => {
  const { storage, storageUrl } = at(nodes, 0);
  await query(storage, "UPDATE responses SET kept_until = 1");
  const [late] = await startNodes(1, { storage: storageUrl, providers: simulatedProviders(simulators) });
  const left = (): Promise<unknown[]> => query(storage, "SELECT id FROM responses");
  await until("they are forgotten", async () => (await left()).length === 0);
  expect(await late?.stop()).toBe(0);
});
