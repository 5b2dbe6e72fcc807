/** With several keys of one provider, a stored response belongs to the key that made it. */
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type Caller, post, type Rig, type ScriptedUpstream, startRig, startScriptedUpstream } from "../kit/index.ts";

const keys = ["sk-first-0123456789abcdef", "sk-second-fedcba9876543210", "sk-third-0f1e2d3c4b5a6978"];

let rig: Rig;
let upstream: ScriptedUpstream;
let caller: Caller;
/** The upstream's responses: id → the key that made it. */
const made = new Map<string, string>();

beforeAll(async () => {
  upstream = startScriptedUpstream();
  upstream.answerWith(async ({ key, body, method, path }) => {
    const unknown = Response.json({ error: { message: "not found", type: "invalid_request_error" } }, { status: 404 });
    const id = path.split("/")[2];
    if (method !== "POST") return made.get(id ?? "") === key ? Response.json({ id, object: "response" }) : unknown;
    const { previous_response_id: previous, stream } = JSON.parse(body) as {
      previous_response_id?: string;
      stream?: boolean;
    };
    if (previous !== undefined && made.get(previous) !== key) return unknown;
    const answer = {
      id: `resp_${made.size}`,
      object: "response",
      status: "completed",
      output: [],
      usage: { input_tokens: 3, output_tokens: 2 },
    };
    made.set(answer.id, key);
    if (stream !== true) return Response.json(answer);
    const event = { type: "response.completed", response: answer };
    return new Response(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`, {
      headers: { "content-type": "text/event-stream" },
    });
  });
  rig = await startRig({
    providers: () => ({ up: { kind: "openai", base_url: upstream.url, api_keys: keys } }),
  });
  caller = await rig.caller();
});
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
});

const path = "/v1/responses";
const respond = (more: object = {}): Promise<Response> =>
  post(rig, path, caller.token, { model: "up/gpt-5-mini", input: "hi", ...more });

async function idOf(answer: Response): Promise<string> {
  const text = await answer.text();
  const id = /"id":"(resp_\d+)"/.exec(text)?.[1];
  if (answer.status !== 200 || id === undefined) throw new Error(`no response: ${answer.status} ${text}`);
  return id;
}

const ask = (method: string, id: string): Promise<Response> =>
  fetch(`${rig.gateway.url}${path}/${id}`, { method, headers: { authorization: `Bearer ${caller.token}` } });

test.each([{}, { stream: true }])(
  "it is looked up, continued and deleted with that key, however often: %j",
  async (more) => {
    const ids: string[] = [];
    for (const _ of keys) ids.push(await idOf(await respond(more)));
    expect(new Set(ids.map((id) => made.get(id)))).toEqual(new Set(keys));
    for (const id of ids) {
      const answers = await Promise.all(Array.from({ length: 4 }, () => ask("GET", id)));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
      const next = await idOf(await respond({ ...more, previous_response_id: id }));
      expect(made.get(next)).toBe(made.get(id) ?? "");
      expect((await ask("DELETE", id)).status).toBe(200);
    }
  },
);
