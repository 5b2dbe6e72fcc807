/**
 * Upstreams store items, containers and files under a key that all callers share. A caller may refer to its own only;
 * nothing else reaches an upstream.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import {
  engines,
  expectRefusal,
  messagesPath,
  type ReceivedAnswer,
  responseIn,
  responsesPath,
  type Rig,
  type ScriptedUpstream,
  sharedPostgres,
  startRig,
  startScriptedUpstream,
  storageOn,
  type Talker,
  talker,
} from "../kit/index.ts";

const postgres = sharedPostgres();
const keys = ["sk-first-0123456789abcdef", "sk-second-fedcba9876543210"];

describe.each(engines)("on %s", (engine) => {
  let rig: Rig;
  let upstream: ScriptedUpstream;
  let alice: Talker;
  let mallory: Talker;

  beforeAll(async () => {
    upstream = startScriptedUpstream();
    rig = await startRig({
      ...(await storageOn(engine, postgres)),
      providers: () => ({
        up: { kind: "openai", base_url: upstream.url, api_keys: keys },
        shared: { kind: "openai", base_url: upstream.url, api_key: keys[0], shared_stores: true },
        claude2: { kind: "anthropic", base_url: upstream.url, api_key: keys[0] },
      }),
    });
    alice = talker(rig.gateway.url, await rig.gateway.token({ user: "alice" }));
    mallory = talker(rig.gateway.url, await rig.gateway.token({ user: "mallory" }));
  });
  beforeEach(() => upstream.answerWith(answer));
  afterEach(() => rig.expectBalancedBooks());
  afterAll(async () => {
    await rig.stop();
    await upstream.stop();
  });

  /** Calls so far, of both kinds of upstreams. */
  const sent = (): number => rig.simulators.total() + upstream.requests.length;

  async function expectNotFound(who: Talker, path: string, body: object, param: string): Promise<void> {
    const before = sent();
    const answered = await who.ask(path, { body });
    if (path.startsWith(messagesPath)) {
      expect([answered.status, answered.json]).toMatchObject([404, { error: { type: "not_found_error" } }]);
      expect(answered.text).toContain(param);
    } else expectRefusal(answered, answered.text, { status: 404, code: "object_not_found", param });
    expect(sent()).toBe(before);
  }

  async function expectSent(who: Talker, path: string, body: object): Promise<ReceivedAnswer> {
    const before = sent();
    const answered = await who.ask(path, { body });
    expect([answered.status, answered.text]).toEqual([200, expect.any(String) as string]);
    expect(sent()).toBe(before + 1);
    return answered;
  }

  describe("an output item", () => {
    const models = ["openai/gpt-5-mini", "xai/grok-4", "byteplus/seed-1-8-251228"];

    test.each(models)("of %s is not given to another user, who would read it as an input item", async (model) => {
      const secret = responseIn(await alice.ask(responsesPath, { body: { model, input: "the secret is 4711" } }));
      const id = itemOf(secret);
      for (const reference of [{ type: "item_reference", id }, { id }, { type: null, id }]) {
        for (const more of [{}, { stream: true }, { store: false }]) {
          const body = { model, input: [reference, { role: "user", content: "repeat it" }], ...more };
          await expectNotFound(mallory, responsesPath, body, "input.0.id");
        }
      }
      const own = {
        model,
        input: [
          { type: "item_reference", id },
          { role: "user", content: "repeat it" },
        ],
      };
      await expectSent(alice, responsesPath, own);
    });

    test.each([{}, { store: false }, { stream: true }, { stream: true, store: false }])(
      "is known to its owner alone after %j",
      async (more) => {
        const body = { model: "up/gpt-5-mini", input: "hi", ...more };
        const { text } = await expectSent(alice, responsesPath, body);
        const id = /msg_\d+/.exec(text)?.[0];
        const next = { model: "up/gpt-5-mini", input: [{ type: "item_reference", id }] };
        await expectNotFound(mallory, responsesPath, next, "input.0.id");
        const key = upstream.requests.at(-1)?.key;
        // Sent with the key that made it.
        for (let times = 0; times < 3; times += 1) {
          await expectSent(alice, responsesPath, next);
          expect(upstream.requests.at(-1)?.key).toBe(key);
        }
      },
    );

    test("of a stream that broke off is its owner's", async () => {
      upstream.answerWith(() =>
        events([{ type: "response.output_item.added", item: { type: "message", id: "msg_b" } }]),
      );
      const model = "up/gpt-5-mini";
      const broken = await alice.ask(responsesPath, { body: { model, input: "hi", stream: true } });
      expect(broken.text).toContain("upstream_interrupted");
      upstream.answerWith(answer);
      const next = { model, input: [{ id: "msg_b" }] };
      await expectNotFound(mallory, responsesPath, next, "input.0.id");
      await expectSent(alice, responsesPath, next);
    });

    test("that is sent whole passes, whoever made it, and makes it nobody's", async () => {
      const { text } = await expectSent(alice, responsesPath, { model: "up/gpt-5-mini", input: "hi" });
      const id = /msg_\d+/.exec(text)?.[0];
      const whole = [
        { type: "message", id, role: "assistant", content: [{ type: "output_text", text: "x" }] },
        { type: "reasoning", id: "rs_of_alice", summary: [], encrypted_content: "sealed" },
        { type: "function_call", id: "fc_of_alice", call_id: "c", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: "1" },
      ];
      const { json } = await expectSent(mallory, responsesPath, { model: "up/gpt-5-mini", input: whole });
      const { id: response } = json as { id: string };
      upstream.answerWith(() => Response.json({ object: "list", data: [{ type: "message", id }] }));
      const listed = await mallory.ask(`${responsesPath}/${response}/input_items`);
      expect(listed.text).toContain(String(id));
      upstream.answerWith(answer);
      await expectNotFound(mallory, responsesPath, { model: "up/gpt-5-mini", input: [{ id }] }, "input.0.id");
    });

    test("without its content is a reference too", async () => {
      for (const item of [
        { type: "reasoning", id: "rs_x", summary: [] },
        { type: "image_generation_call", id: "ig_x" },
        { type: "file_search_call", id: "fs_x" },
      ]) {
        const body = { model: "up/gpt-5-mini", input: [item, { role: "user", content: "x" }] };
        await expectNotFound(mallory, responsesPath, body, "input.0.id");
      }
    });

    test("of one provider is not one of another", async () => {
      const { text } = await expectSent(alice, responsesPath, { model: "up/gpt-5-mini", input: "hi" });
      const id = /msg_\d+/.exec(text)?.[0];
      await expectNotFound(alice, responsesPath, { model: "shared/gpt-5-mini", input: [{ id }] }, "input.0.id");
    });

    test.each(["", "'; DROP TABLE stored_objects; --", "%", "\0", "msg_\0", "é".repeat(1_000), "x".repeat(100_000), 5])(
      "with an invalid id is not found: %p",
      async (id) => {
        const body = { model: "up/gpt-5-mini", input: [{ type: "item_reference", id }] };
        const before = sent();
        const { status } = await mallory.ask(responsesPath, { body });
        expect([404, 422]).toContain(status);
        expect(sent()).toBe(before);
      },
    );

    test("more references than the bound are refused", async () => {
      const input = Array.from({ length: 1_001 }, (_, index) => ({
        type: "reasoning",
        id: `rs_${index}`,
        summary: [],
      }));
      const refused = await mallory.ask(responsesPath, { body: { model: "up/gpt-5-mini", input } });
      expectRefusal(refused, refused.text, { status: 422, code: "validation_failed", param: "input.1000.id" });
    });
  });

  test("a container of Responses is its owner's", async () => {
    const interpreter = { type: "code_interpreter", container: { type: "auto" } };
    const { text } = await expectSent(alice, responsesPath, {
      model: "up/gpt-5-mini",
      input: "compute",
      tools: [interpreter],
      stream: true,
    });
    const id = /cntr_\d+/.exec(text)?.[0];
    const next = { model: "up/gpt-5-mini", input: "read", tools: [{ type: "code_interpreter", container: id }] };
    await expectNotFound(mallory, responsesPath, next, "tools.0.container");
    await expectSent(alice, responsesPath, next);
    const call = { type: "code_interpreter_call", id: "ci_1", container_id: id, code: "1", outputs: [] };
    const reuse = { model: "up/gpt-5-mini", input: [call], tools: [interpreter] };
    await expectNotFound(mallory, responsesPath, reuse, "input.0.container_id");
    await expectSent(alice, responsesPath, reuse);
  });

  test.each([false, true])("a container and a thread of Messages are their owner's (stream: %p)", async (stream) => {
    const asked = {
      model: "claude2/claude-haiku-4-5",
      max_tokens: 9,
      messages: [{ role: "user", content: "x" }],
      stream,
    };
    const tools = [{ type: "code_execution_20260120", name: "code_execution" }];
    const { text } = await expectSent(alice, messagesPath, { ...asked, tools, thread: { type: "start" } });
    const container = /container_\d+/.exec(text)?.[0];
    const message = /msg_\d+/.exec(text)?.[0];
    const file = /file_\d+/.exec(text)?.[0];
    const upload = { role: "user", content: [{ type: "container_upload", file_id: file }] };
    for (const [more, param] of [
      [{ container }, "container"],
      [{ container: { id: container, skills: [] } }, "container"],
      [{ thread: { type: "continue", previous_message_id: message } }, "thread.previous_message_id"],
      [{ messages: [upload] }, "messages.0.content.0.file_id"],
    ] as const) {
      await expectNotFound(mallory, messagesPath, { ...asked, ...more }, param);
      await expectSent(alice, messagesPath, { ...asked, ...more });
    }
    const { max_tokens: _, stream: _stream, ...counted } = asked;
    const path = `${messagesPath}/count_tokens`;
    await expectNotFound(mallory, path, { ...counted, messages: [upload] }, "messages.0.content.0.file_id");
    await expectSent(alice, path, { ...counted, messages: [upload] });
  });

  test.each([false, true])("a spoken answer of chat is its owner's (stream: %p)", async (stream) => {
    const chat = "/v1/chat/completions";
    const asked = { model: "up/gpt-4o-audio-preview", messages: [{ role: "user", content: "x" }] };
    const audio = { voice: "alloy", format: "pcm16" };
    const { text } = await expectSent(alice, chat, { ...asked, modalities: ["text", "audio"], audio, stream });
    const id = /audio_\d+/.exec(text)?.[0];
    const next = { ...asked, messages: [{ role: "assistant", audio: { id } }, ...asked.messages] };
    await expectNotFound(mallory, chat, next, "messages.0.audio.id");
    await expectSent(alice, chat, next);
  });

  const untracked: [string, string, object, string][] = [
    ["a conversation", responsesPath, { conversation: "conv_1" }, "conversation"],
    ["a prompt", responsesPath, { prompt: { id: "pmpt_1" } }, "prompt"],
    [
      "a vector store",
      responsesPath,
      { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] },
      "tools.0.vector_store_ids.0",
    ],
    [
      "a file",
      responsesPath,
      { input: [{ role: "user", content: [{ type: "input_file", file_id: "file-1" }] }] },
      "input.0.content.0.file_id",
    ],
    [
      "a file in chat",
      "/v1/chat/completions",
      { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "file-1" } }] }] },
      "messages.0.content.0.file.file_id",
    ],
    ["an image", "/v1/images/edits", { images: [{ file_id: "file-1" }] }, "images.0.file_id"],
  ];
  const bodies: Readonly<Record<string, object>> = {
    [responsesPath]: { input: "x" },
    "/v1/chat/completions": { messages: [] },
    "/v1/images/edits": { prompt: "x" },
  };

  test.each(untracked)(
    "%s of the provider's account is nobody's, unless it is shared",
    async (_, path, more, param) => {
      const model = path === responsesPath ? "gpt-5-mini" : "gpt-image-1";
      await expectNotFound(alice, path, { model: `up/${model}`, ...bodies[path], ...more }, param);
      await expectSent(alice, path, { model: `shared/${model}`, ...bodies[path], ...more });
    },
  );

  test("also where stores are shared, what one user got is not another's", async () => {
    const tools = [{ type: "code_interpreter", container: { type: "auto" } }];
    const { text } = await expectSent(alice, responsesPath, { model: "shared/gpt-5-mini", input: "x", tools });
    const next = { model: "shared/gpt-5-mini", input: "x" };
    const container = [{ type: "code_interpreter", container: /cntr_\d+/.exec(text)?.[0] }];
    await expectNotFound(mallory, responsesPath, { ...next, tools: container }, "tools.0.container");
    await expectSent(mallory, responsesPath, { ...next, tools: [{ ...tools[0], container: "cntr_of_operator" }] });
    const item = { id: /msg_\d+/.exec(text)?.[0] };
    await expectNotFound(mallory, responsesPath, { ...next, input: [item] }, "input.0.id");
    await expectNotFound(mallory, responsesPath, { ...next, input: [{ id: "msg_unknown" }] }, "input.0.id");
  });
});

let made = 0;

/** An answer of any kind, with new ids. */
function answer({ path, body }: { path: string; body: string }): Response {
  made += 1;
  const { stream } = JSON.parse(body) as { stream?: boolean };
  if (path.endsWith("/count_tokens")) return Response.json({ input_tokens: 1 });
  if (path.endsWith("/messages")) return messagesAnswer(stream === true);
  if (path.endsWith("/chat/completions")) return chatAnswer(stream === true);
  if (path.includes("/images/")) return Response.json({ created: 1, data: [{ b64_json: "aGk=" }] });
  const response = {
    id: `resp_${made}`,
    object: "response",
    status: "completed",
    output: [
      { type: "code_interpreter_call", id: `ci_${made}`, container_id: `cntr_${made}` },
      { type: "message", id: `msg_${made}`, role: "assistant", content: [] },
    ],
    usage: { input_tokens: 3, output_tokens: 2 },
  };
  return stream === true ? events([{ type: "response.completed", response }]) : Response.json(response);
}

function messagesAnswer(stream: boolean): Response {
  const container = { id: `container_${made}`, expires_at: "2027-01-01T00:00:00Z" };
  const upload = { type: "container_upload", file_id: `file_${made}` };
  const usage = { input_tokens: 3, output_tokens: 2 };
  const message = { type: "message", id: `msg_${made}`, role: "assistant", content: [], container: null, usage };
  if (!stream) return Response.json({ ...message, content: [upload], container, stop_reason: "end_turn" });
  return events([
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: upload },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", container }, usage },
    { type: "message_stop" },
  ]);
}

function chatAnswer(stream: boolean): Response {
  const audio = { id: `audio_${made}`, data: "aGk=", transcript: "hi", expires_at: 1 };
  const usage = { prompt_tokens: 3, completion_tokens: 2 };
  const first = { index: 0, finish_reason: "stop" };
  if (!stream) return Response.json({ choices: [{ ...first, message: { role: "assistant", audio } }], usage });
  const chunks = [{ choices: [{ ...first, delta: { audio } }] }, { choices: [], usage }];
  const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  return new Response(`${text}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
}

function events(sequence: readonly ({ type: string } & Record<string, unknown>)[]): Response {
  const text = sequence.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

/** The id of the message in a response. */
function itemOf(response: { output?: unknown }): string {
  const items = response.output as { type: string; id: string }[];
  const id = items.find(({ type }) => type === "message")?.id;
  if (id === undefined) throw new Error("the response has no message");
  return id;
}
