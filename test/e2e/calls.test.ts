/** Any call of any process: found by each of its ids, and sent as it ends. Two nodes on one Postgres, each with two workers. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  chatPath,
  type Gateway,
  hasProc,
  operatorOf,
  type PostgresServer,
  type ScriptedUpstream,
  sorted,
  startGateway,
  startPostgres,
  startScriptedUpstream,
  stopGateways,
  until,
} from "../kit/index.ts";

let postgres: PostgresServer;
let upstream: ScriptedUpstream;
let nodes: Gateway[];
let owner: string;
let ann: string;

const { run, runJson } = operatorOf(() => nodes[0] as Gateway);

beforeAll(async () => {
  upstream = startScriptedUpstream();
  postgres = await startPostgres();
  const storage = await postgres.createDatabase();
  const providers = { openai: { kind: "openai", base_url: upstream.url, api_key: "k" } };
  // Several processes on one port are for Linux only.
  const options = { storage, providers, arguments: hasProc ? ["--workers", "2"] : [] };
  nodes = [await startGateway(options), await startGateway(options)];
  owner = (await nodes[0]?.token({ user: "root", role: "owner", credits: 0n })) ?? "";
  ann = (await nodes[0]?.token({ user: "ann", organisation: "acme", credits: 0n })) ?? "";
  await run("credits", "grant", "--organisation", "acme", "--amount", "100");
});
afterAll(async () => {
  await stopGateways();
  await upstream.stop();
  await postgres.stop();
});

let number = 0;

/** A call on a new connection, which any worker may get. */
async function call(node: Gateway | undefined, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(String(node?.url) + chatPath, {
    method: "POST",
    headers: { authorization: `Bearer ${ann}`, ...headers },
    body: JSON.stringify({
      model: "openai/gpt-4o-mini",
      user: "customer-1",
      messages: [{ role: "user", content: "Hello!" }],
    }),
    keepalive: false,
  });
}

function answer(status: number): Response {
  number += 1;
  const headers = { "x-request-id": `upstream-${number}` };
  if (status !== 200)
    return Response.json({ error: { message: "no", type: "invalid_request_error" } }, { status, headers });
  const choices = [{ index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }];
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
  return Response.json({ id: "c", object: "chat.completion", created: 1, model: "m", choices, usage }, { headers });
}

const ask = (path: string, headers: Record<string, string> = {}, node = nodes[1]) =>
  fetch(`${node?.url}/admin/v1/generations${path}`, { headers: { authorization: `Bearer ${owner}`, ...headers } });

test("a failed call is found by our id, by the caller's and by the provider's, over API and command", async () => {
  upstream.answerWith(() => answer(400));
  const refused = await call(nodes[0], { "x-request-id": "caller-1", "x-tollgate-session": "s-1" });
  expect(refused.status).toBe(400);
  await refused.arrayBuffer();
  const id = refused.headers.get("x-request-id") ?? "";
  const theirs = `upstream-${number}`;
  const expected = {
    object: "generation",
    id,
    user: "ann",
    organisation: "acme",
    status: 400,
    outcome: "failed",
    client_request_id: "caller-1",
    end_user: "customer-1",
    upstream_request_id: theirs,
    session: "s-1",
    list_credits: 0,
  };
  for (const known of [id, "caller-1", theirs]) {
    const found: unknown = await (await ask(`/${known}`)).json();
    expect(found).toMatchObject(expected);
  }
  expect(await runJson<object>("call", theirs)).toMatchObject(expected);
  expect(await runJson<object>("calls", "--failed", "--user", "ann", "--since", "1h")).toMatchObject({
    data: [expected],
    has_more: false,
  });
  expect(await run("calls", "--failed", "--session", "s-1")).toContain(id);
  expect(await run("call", "caller-1")).toMatch(/client request id +caller-1/);
  // A refusal of the gateway itself has no record.
  const unknown = await fetch(String(nodes[0]?.url) + chatPath, {
    method: "POST",
    headers: { "x-request-id": "caller-2" },
  });
  expect(unknown.status).toBe(401);
  const missing = await ask("/caller-2");
  expect([missing.status, await missing.text()]).toEqual([
    404,
    expect.stringContaining("401, 402, 404, 422, 429") as string,
  ]);
});

test("events of one worker have each call of all workers and nodes once", async () => {
  upstream.answerWith(() => answer(number % 5 === 4 ? 400 : 200));
  const leaving = new AbortController();
  const events = await fetch(`${nodes[0]?.url}/admin/v1/generations?user=ann`, {
    headers: { authorization: `Bearer ${owner}`, accept: "text/event-stream" },
    signal: leaving.signal,
  });
  expect(events.headers.get("content-type")).toContain("text/event-stream");
  let text = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    const reader = (events.body as ReadableStream<Uint8Array<ArrayBuffer>>).getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read())
      text += decoder.decode(part.value, { stream: true });
  })().catch(() => undefined);
  await until("the stream has begun", () => text.includes("from now on"));
  const ids: string[] = [];
  for (let round = 0; round < 5; round += 1) {
    const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => call(nodes[index % 2])));
    await Promise.all(answers.map((one) => one.arrayBuffer()));
    ids.push(...answers.map(({ headers }) => headers.get("x-request-id") ?? ""));
  }
  const sent = () =>
    [...text.matchAll(/^data: (.*)$/gm)].map(([, data = ""]) => (JSON.parse(data) as { id: string }).id);
  await until("every call is sent", () => sent().length >= ids.length);
  expect(sorted(sent())).toEqual(sorted(ids));
  leaving.abort();
  await reading;
  const csv = await (await ask("?format=csv&user=ann")).text();
  for (const id of ids) expect(csv.split(id)).toHaveLength(2);
});
