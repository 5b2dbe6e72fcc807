/** The end of a token applies on every node within a second, whichever node or command caused it. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { codeOf, type Gateway, startGateway, until } from "../kit/index.ts";
import { type PostgresServer, startPostgres } from "../kit/postgres.ts";

const providers = { openai: { kind: "openai", base_url: "http://127.0.0.1:9/v1", api_key: "k" } };

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

async function answers(nodes: readonly Gateway[], token: string): Promise<string[]> {
  const asked = nodes.map(async ({ url }) =>
    codeOf(await fetch(`${url}/v1/user/info`, { headers: { authorization: `Bearer ${token}` } })),
  );
  return Promise.all(asked);
}

/** Waits until every node gives this answer. */
async function untilAll(nodes: readonly Gateway[], token: string, answer: string, timeout: number): Promise<void> {
  const isThere = async (): Promise<boolean> => (await answers(nodes, token)).every((each) => each === answer);
  await until(`every node answers ${answer}`, isThere, timeout);
}

describe("two nodes on one storage", () => {
  let first: Gateway;
  let nodes: Gateway[];
  beforeAll(async () => {
    const storage = await server.createDatabase();
    first = await startGateway({ providers, storage });
    nodes = [first, await startGateway({ providers, storage })];
  });
  afterAll(async () => {
    for (const node of nodes) await node.stop();
  });

  test("a revoked token is refused by both within a second, and its neighbour by none", async () => {
    const [leaver, stayer] = [await first.token(), await first.token()];
    expect(await answers(nodes, leaver)).toEqual(["status 200", "status 200"]);
    expect(await answers(nodes, stayer)).toEqual(["status 200", "status 200"]);
    const { code } = await first.cli("token", "revoke", leaver.slice(3, 15));
    expect(code).toBe(0);
    await untilAll(nodes, leaver, "token_revoked", 1_000);
    expect(await answers(nodes, stayer)).toEqual(["status 200", "status 200"]);
  });

  test("a token that expires is refused by both from then on", async () => {
    const lifetime = 1_500;
    const guest = await first.token({ expiresInMs: lifetime });
    expect(await answers(nodes, guest)).toEqual(["status 200", "status 200"]);
    await untilAll(nodes, guest, "token_expired", lifetime + 1_000);
  });
});
