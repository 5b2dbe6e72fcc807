import { expect, test } from "bun:test";
import { startGateway, until } from "../kit/index.ts";
import { startPostgres } from "../kit/postgres.ts";

const providers = {};

test("a gateway on SQLite is ready", async () => {
  const gateway = await startGateway({ providers });
  try {
    const ready = await fetch(`${gateway.url}/health/ready`);
    expect([ready.status, await ready.json()]).toEqual([200, { status: "ready" }]);
  } finally {
    await gateway.stop();
  }
});

test("a gateway whose Postgres is away lives, is not ready, and is ready again afterwards", async () => {
  const server = await startPostgres();
  const gateway = await startGateway({ providers, storage: await server.createDatabase() });
  const ready = () => fetch(`${gateway.url}/health/ready`);
  try {
    expect((await ready()).status).toBe(200);
    await server.crash();
    const refused = await until("the gateway notices", async () => {
      const answer = await ready();
      return answer.status === 503 && answer;
    });
    expect(await refused.json()).toMatchObject({ error: { code: "storage_unavailable" } });
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await fetch(`${gateway.url}/health`)).status).toBe(200);
    await server.start();
    await until("the gateway is ready again", async () => (await ready()).status === 200);
  } finally {
    await gateway.stop();
    await server.stop();
  }
});
