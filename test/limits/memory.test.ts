/** Large bodies and answers under way share a budget, and new ones beyond it are refused. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import {
  type Caller,
  chatPath,
  expectRefusal,
  post,
  type Rig,
  type ScriptedUpstream,
  startRig,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";

const MEBIBYTE = 1024 * 1024;
const model = "up/gpt-4o-mini";

let rig: Rig;
let upstream: ScriptedUpstream;
let caller: Caller;

beforeAll(async () => {
  upstream = startScriptedUpstream();
  rig = await startRig({
    config: { server: { memory_limit: "10MiB" }, upstream: { retries: 0 } },
    providers: () => ({ up: { kind: "openai", base_url: upstream.url, api_key: "sk-0123456789abcdef" } }),
  });
  caller = await rig.caller();
});
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
});

const usage = { prompt_tokens: 3, completion_tokens: 2 };
const answerOf = (content: string) => ({ choices: [{ index: 0, message: { role: "assistant", content } }], usage });
const bodyOf = (mebibytes: number) => ({
  model,
  messages: [{ role: "user", content: "x".repeat(mebibytes * MEBIBYTE) }],
});
const ask = (body: object): Promise<Response> => post(rig, chatPath, caller.token, body);

async function expectTooMany(answer: Response): Promise<void> {
  expectRefusal(answer, await answer.text(), { status: 503, code: "memory_exhausted", type: "server_error" });
  expect(answer.headers.get("retry-after")).toBe("5");
}

test("bodies that the upstream has not answered count; small ones pass, and space is given back", async () => {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  upstream.answerWith(async () => {
    await released;
    return Response.json(answerOf("hi"));
  });
  const waiting = [ask(bodyOf(4)), ask(bodyOf(4))];
  await until("the upstream has both", () => upstream.requests.length === 2);
  await expectTooMany(await ask(bodyOf(4)));
  const small = ask(bodyOf(0));
  release();
  for (const each of [...waiting, small]) expect((await each).status).toBe(200);
  for (let times = 0; times < 5; times += 1) expect((await ask(bodyOf(8))).status).toBe(200);
});

test.each<[string, () => Response]>([
  ["large", () => Response.json(answerOf("x".repeat(11 * MEBIBYTE)))],
  [
    "compressed",
    () =>
      new Response(gzipSync(JSON.stringify(answerOf("x".repeat(64 * MEBIBYTE)))), {
        headers: { "content-type": "application/json", "content-encoding": "gzip" },
      }),
  ],
])("a %s answer beyond the budget ends its call", async (_title, script) => {
  upstream.answerWith(script);
  await expectTooMany(await ask(bodyOf(0)));
  upstream.answerWith(() => Response.json(answerOf("x".repeat(6 * MEBIBYTE))));
  for (let times = 0; times < 5; times += 1) expect((await ask(bodyOf(0))).status).toBe(200);
});

test("a body that breaks off, or is refused, gives its space back", async () => {
  upstream.answerWith(() => Response.json(answerOf("hi")));
  for (let times = 0; times < 5; times += 1) {
    const text = `{"model":"${model}","messages":"${"x".repeat(8 * MEBIBYTE)}`;
    const refused = await post(rig, chatPath, caller.token, text);
    expect(refused.status).toBe(422);
  }
  expect((await ask(bodyOf(8))).status).toBe(200);
});
