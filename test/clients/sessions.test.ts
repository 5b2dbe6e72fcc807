/** Sessions that clients name in headers: in the records of their calls, of whatever kind, and as groups of their usage. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sessionHeaders } from "../../src/core/index.ts";
import {
  engines,
  generationOf,
  newClient,
  type PostgresServer,
  type Rig,
  startPostgres,
  startRig,
  storageOn,
} from "../kit/index.ts";

let postgres: PostgresServer;
beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

describe.each(engines)("on %s", (engine) => {
  let rig: Rig;
  beforeAll(async () => {
    rig = await startRig(await storageOn(engine, postgres));
  });
  afterAll(() => rig.stop());

  const messages = [{ role: "user" as const, content: "Hello" }];
  const model = "openai/gpt-5-mini";

  test("a call has the session of each header, and none without", async () => {
    const { client, caller } = await newClient(rig);
    const sessionOf = async (headers: Record<string, string>): Promise<unknown> => {
      const { response } = await client.chat.completions.create({ model, messages }, { headers }).withResponse();
      return (await generationOf(rig, caller, response))["session"];
    };
    for (const name of sessionHeaders) expect(await sessionOf({ [name]: `of ${name}` })).toBe(`of ${name}`);
    expect(await sessionOf({})).toBeNull();
    expect(await sessionOf({ "x-tollgate-session": "x".repeat(129) })).toBeNull();
  });

  test("usage is summed by session, page by page, and is the user's alone", async () => {
    const { client, caller } = await newClient(rig);
    const { client: other } = await newClient(rig);
    const headers = (session: string) => ({ headers: { "x-tollgate-session": session } });
    await Promise.all([
      client.chat.completions.create({ model, messages }, headers("one")),
      client.responses.create({ model, input: "Hello" }, headers("one")),
      client.embeddings.create({ model: "openai/text-embedding-3-small", input: "Hello" }, headers("two")),
      client.chat.completions.create({ model, messages }),
      other.chat.completions.create({ model, messages }, headers("one")),
    ]);
    const stream = await client.chat.completions.create({ model, messages, stream: true }, headers("two"));
    for await (const _ of stream);
    await caller.closed();
    const page = async (query: string): Promise<unknown> => {
      const answer = await fetch(`${rig.gateway.url}/v1/usage?group_by=session${query}`, {
        headers: { authorization: `Bearer ${caller.token}` },
      });
      return answer.json();
    };
    expect(await page("&limit=1")).toMatchObject({
      data: [{ object: "usage", session: "one", requests: 2 }],
      total: { requests: 5 },
      next_cursor: "one",
    });
    const last = await page("&limit=1&cursor=one");
    expect(last).toMatchObject({ data: [{ session: "two", requests: 2 }], total: { requests: 5 } });
    expect(last).not.toHaveProperty("next_cursor");
  });
});
