/** Searches for a model that knows chat alone, in the three dialects, with the makers' SDKs, whole and streamed. */
import { describe, expect, test } from "bun:test";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import type { JsonObject } from "../../src/core/index.ts";
import { post, until } from "../kit/index.ts";
import { hostedScene, type HostedScene, model, type ModelAnswer } from "./hosted-scene.ts";

const at = hostedScene();

const openai = ({ rig, caller }: HostedScene): OpenAI =>
  new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: caller.token, maxRetries: 0 });
const anthropic = ({ rig, caller }: HostedScene): Anthropic =>
  new Anthropic({ baseURL: rig.gateway.url, apiKey: caller.token, maxRetries: 0 });

const mountain = {
  path: "/mountain",
  title: "A mountain",
  content: "High.",
  html: "<p>Mount Columbia is 3747 m high.</p><p>It was climbed in 1902.</p>",
};

const search = (query: string): ModelAnswer => ({ calls: [{ name: "web_search", args: { query } }] });

function twoSearches(scene: HostedScene): void {
  scene.finds(mountain);
  scene.answers({ text: "Let me look. ", ...search("mountain in Alberta") }, search("height of Mount Columbia"), {
    text: `It is <cite id="1">3747 m high</cite>, says [a page](${scene.url("/mountain")}).`,
  });
}

const webSearch = { type: "web_search" } as const;

describe("in Responses", () => {
  const ask = { model, input: "How high is it?", tools: [webSearch] };

  test("the SDK's stream is that of OpenAI's own, and the same as the whole answer", async () => {
    const scene = at();
    twoSearches(scene);
    const stream = openai(scene).responses.stream(ask);
    const names: string[] = [];
    for await (const event of stream)
      if (!event.type.endsWith(".delta")) names.push(event.type.replace("response.", ""));
    const item = ["output_item.added", "output_item.done"] as const;
    const message = [item[0], "content_part.added", "output_text.done", "content_part.done", item[1]];
    const called = ["in_progress", "searching", "completed"].map((name) => `web_search_call.${name}`);
    const searched = [item[0], ...called, item[1]];
    const cited = message.toSpliced(2, 0, "output_text.annotation.added", "output_text.annotation.added");
    expect(names).toEqual(["created", "in_progress", ...message, ...searched, ...searched, ...cited, "completed"]);
    const streamed = await stream.finalResponse();
    twoSearches(scene);
    const whole = await openai(scene).responses.create(ask);
    const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value).replaceAll(/_0[a-z0-9]{24}/g, ""));
    const outputOf = ({ output }: { output: unknown[] }) =>
      plain(
        output.map((each) => {
          const { parsed: _, ...rest } = each as JsonObject;
          return rest;
        }),
      );
    expect(JSON.stringify(outputOf(streamed)).replaceAll(',"parsed":null', "")).toBe(JSON.stringify(outputOf(whole)));
    expect(whole.output_text).toBe(`Let me look. It is 3747 m high, says [a page](${scene.url("/mountain")}).`);
    expect(whole.output.map(({ type }) => type)).toEqual(["message", "web_search_call", "web_search_call", "message"]);
    expect(whole.output[1]).toMatchObject({
      status: "completed",
      action: { type: "search", query: "mountain in Alberta", queries: ["mountain in Alberta"] },
    });
    const last = whole.output.at(-1);
    const part = last?.type === "message" ? last.content[0] : undefined;
    const annotations = part?.type === "output_text" ? part.annotations : [];
    const spans = annotations.map((each) =>
      each.type === "url_citation"
        ? [part?.type === "output_text" && part.text.slice(each.start_index, each.end_index), each.url]
        : [],
    );
    expect(spans).toEqual([
      ["3747 m high", scene.url("/mountain")],
      [`[a page](${scene.url("/mountain")})`, scene.url("/mountain")],
    ]);
    expect(whole.usage).toMatchObject({ input_tokens: 30, output_tokens: 15 });
    expect(whole.tools).toEqual([webSearch]);
  });

  test("the addresses that a search has found are there if they are asked for", async () => {
    const scene = at();
    scene.finds(mountain);
    scene.answers(search("q"), { text: "Done." });
    const { output } = await openai(scene).responses.create({ ...ask, include: ["web_search_call.action.sources"] });
    expect(output[0]).toMatchObject({ action: { sources: [{ type: "url", url: scene.url("/mountain") }] } });
  });

  test("pages that were found are opened and searched; others are not", async () => {
    const scene = at();
    scene.finds(mountain);
    const [url, pattern] = [scene.url("/mountain"), "1902"];
    scene.answers(
      search("q"),
      {
        calls: [
          { name: "open_page", args: { url } },
          { name: "find_in_page", args: { url, pattern } },
        ],
      },
      { calls: [{ name: "open_page", args: { url: scene.url("/other") } }] },
      { text: "Done." },
    );
    const { output } = await openai(scene).responses.create({
      ...ask,
      tools: [{ ...webSearch, search_context_size: "low" }],
    });
    expect(output.map((item) => (item.type === "web_search_call" ? [item.status, item.action] : item.type))).toEqual([
      ["completed", { type: "search", query: "q", queries: ["q"] }],
      ["completed", { type: "open_page", url }],
      ["completed", { type: "find_in_page", url, pattern }],
      ["failed", { type: "open_page", url: scene.url("/other") }],
      "message",
    ]);
    expect(scene.asked.at(-1)?.messages.at(-1)?.content).toContain("may not be opened");
  });

  test("max_tool_calls bounds all of them, and the last round has to answer", async () => {
    const scene = at();
    scene.finds(mountain);
    scene.answers(
      { calls: ["a", "b", "c"].map((query) => ({ name: "web_search", args: { query } })) },
      { text: "Done." },
    );
    const limited = { ...ask, max_tool_calls: 2 };
    const { output } = await openai(scene).responses.create(limited);
    expect(output.map(({ type }) => type)).toEqual(["web_search_call", "web_search_call", "message"]);
    expect(scene.asked.map(({ tool_choice }) => tool_choice)).toEqual([undefined, "none"]);
  });

  test("a response is continued by its id, with what was found", async () => {
    const scene = at();
    twoSearches(scene);
    const first = await openai(scene).responses.create(ask);
    scene.answers({ text: "Yes." });
    const next = await openai(scene).responses.create({ model, input: "Sure?", previous_response_id: first.id });
    expect(next.output_text).toBe("Yes.");
    expect(JSON.stringify(scene.asked[0]?.messages)).toContain("3747 m high");
    twoSearches(scene);
    const again = await openai(scene).responses.create({ ...ask, previous_response_id: next.id });
    expect(again.output).toHaveLength(4);
    const input = await openai(scene).responses.inputItems.list(again.id);
    expect(input.data.length).toBeGreaterThan(5);
  });

  test.each([model, "anthropic/claude-haiku-4-5", "openai/gpt-4o-mini"])(
    "items of searches that their client returns are taken by %s: as calls if it has the tool, else as texts",
    async (asked) => {
      const scene = at();
      const page = scene.url("/mountain");
      const action = { type: "search", query: "heights", sources: [{ type: "url", url: page }] };
      const input = [
        { role: "user", content: "How high is it?" },
        { type: "web_search_call", id: "ws_abc_1_0", status: "completed", action },
        { type: "web_search_call", id: "ws_abc_2_1", status: "completed", action: { type: "open_page", url: page } },
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "High." }] },
        { role: "user", content: "Sure?" },
      ];
      for (const tools of [[webSearch], []]) {
        scene.answers({ text: "Yes." });
        const answer = await scene.post("/v1/responses", { model: asked, input, tools });
        expect([answer.status, await answer.json()]).toMatchObject([200, { status: "completed" }]);
        if (asked !== model) continue;
        const messages = scene.asked[0]?.messages ?? [];
        const texts = messages.map(({ role, content }) => `${role}: ${content ?? ""}`).join("\n");
        expect(texts).toContain(page);
        const calls = messages.flatMap(({ tool_calls: list = [] }) => list.map((call) => call.function.name));
        expect(calls).toEqual(tools.length === 0 ? [] : ["web_search", "open_page"]);
        if (tools.length === 0) expect(texts).toContain(`assistant: Pages found for "heights":`);
      }
    },
  );

  test("one in the background goes on after its request, and another one can be cancelled while a tool runs", async () => {
    const scene = at();
    const client = openai(scene);
    const ended = (id: string) =>
      until(`${id} has ended`, async () => {
        const response = await client.responses.retrieve(id);
        return response.status !== "queued" && response.status !== "in_progress" && response;
      });
    twoSearches(scene);
    const begun = await client.responses.create({ ...ask, background: true });
    expect(begun.status).toBe("queued");
    const { status, output, background } = await ended(begun.id);
    expect([status, background, output.map(({ type }) => type)]).toEqual([
      "completed",
      true,
      ["message", "web_search_call", "web_search_call", "message"],
    ]);
    const reached = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    scene.engine.before = async () => {
      reached.resolve();
      await goOn.promise;
    };
    twoSearches(scene);
    const other = await client.responses.create({ ...ask, background: true });
    await reached.promise;
    await client.responses.cancel(other.id);
    expect((await ended(other.id)).status).toBe("cancelled");
    scene.engine.before = () => undefined;
    goOn.resolve();
    expect(scene.asked).toHaveLength(1);
  });

  test("over the WebSocket the events are the same", async () => {
    const scene = at();
    twoSearches(scene);
    const { url } = scene.rig.gateway;
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`, {
      headers: { authorization: `Bearer ${scene.caller.token}` },
    });
    const types: string[] = [];
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    socket.addEventListener("error", () => reject(new Error("the socket failed")));
    socket.addEventListener("message", ({ data }) => {
      const { type } = JSON.parse(String(data)) as { type: string };
      if (!type.endsWith(".delta")) types.push(type);
      if (type === "response.completed") resolve();
    });
    socket.addEventListener("open", () => socket.send(JSON.stringify({ type: "response.create", ...ask })));
    await promise;
    socket.close();
    expect(types.filter((type) => type.includes("web_search_call"))).toHaveLength(6);
  });

  test("functions of the client may share a round, and are handed out after ours", async () => {
    const scene = at();
    scene.finds(mountain);
    const calls = [
      { name: "mine", args: { a: 1 } },
      { name: "web_search", args: { query: "q" } },
    ];
    const mine = { type: "function" as const, name: "mine", parameters: { type: "object" }, strict: false };
    for (const stream of [false, true]) {
      scene.answers({ calls });
      const asked = { ...ask, tools: [mine, webSearch] };
      const { output } = stream
        ? await openai(scene).responses.stream(asked).finalResponse()
        : await openai(scene).responses.create(asked);
      expect(output.map(({ type }) => type)).toEqual(["web_search_call", "function_call"]);
      expect(output[1]).toMatchObject({ name: "mine", arguments: '{"a":1}' });
      expect(scene.asked).toHaveLength(1);
    }
  });

  test("a name that the client's function has already gets a number, and a choice of the tool is one of the function", async () => {
    const scene = at();
    scene.finds(mountain);
    const own = { type: "function" as const, name: "web_search", parameters: { type: "object" }, strict: false };
    scene.answers({ calls: [{ name: "web_search_2", args: { query: "q" } }] }, { text: "Done." });
    const { output } = await openai(scene).responses.create({
      ...ask,
      tools: [own, webSearch],
      // The SDK's types name the previews alone.
      tool_choice: webSearch as never,
    });
    expect(output.map(({ type }) => type)).toEqual(["web_search_call", "message"]);
    const name = "web_search_2";
    expect(scene.asked.map(({ tool_choice }) => tool_choice)).toEqual([
      { type: "function", function: { name } },
      undefined,
    ]);
  });
});

describe("in Messages", () => {
  const ask = {
    model,
    max_tokens: 200,
    messages: [{ role: "user" as const, content: "How high is it?" }],
    tools: [{ type: "web_search_20250305" as const, name: "web_search" as const }],
  };
  const types = ({ content }: Anthropic.Message) => content.map(({ type }) => type);

  test("the SDK's stream is that of Anthropic's own, and the same as the whole answer", async () => {
    const scene = at();
    twoSearches(scene);
    const streamed = await anthropic(scene).messages.stream(ask).finalMessage();
    twoSearches(scene);
    const whole = await anthropic(scene).messages.create(ask);
    const searched = ["server_tool_use", "web_search_tool_result"];
    expect(types(whole)).toEqual(["text", ...searched, ...searched, "text", "text", "text"] as never);
    // Sealed contents differ each time, but not those of citations, which are numbers.
    const plain = ({ content }: Anthropic.Message) =>
      JSON.parse(
        JSON.stringify(content, (key, value: unknown) => (key === "encrypted_content" ? "sealed" : value)).replaceAll(
          /_0[a-z0-9]{24}/g,
          "",
        ),
      ) as object;
    expect(plain(streamed)).toEqual(plain(whole));
    expect(whole.content[1]).toMatchObject({ name: "web_search", input: { query: "mountain in Alberta" } });
    expect(whole.content[2]).toMatchObject({
      tool_use_id: (whole.content[1] as { id: string }).id,
      content: [{ type: "web_search_result", url: scene.url("/mountain"), title: "A mountain" }],
    });
    expect(whole.content[6]).toMatchObject({
      text: "3747 m high",
      citations: [
        {
          type: "web_search_result_location",
          url: scene.url("/mountain"),
          cited_text: expect.stringContaining("3747") as string,
        },
      ],
    });
    expect(streamed.usage).toMatchObject({
      input_tokens: 30,
      output_tokens: 15,
      server_tool_use: { web_search_requests: 2 },
    });
    expect(whole.stop_reason).toBe("end_turn");
  });

  test("max_uses is an error of the tool, and ten uses are a pause that goes on", async () => {
    const scene = at();
    scene.finds(mountain);
    scene.answers(search("a"), search("b"), { text: "Done." });
    const limited = await anthropic(scene).messages.create({
      ...ask,
      tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 1 }],
    });
    expect(limited.content[3]).toMatchObject({ content: { error_code: "max_uses_exceeded" } });
    expect(limited.usage.server_tool_use?.web_search_requests).toBe(1);
    scene.answers(search("again"));
    const paused = await anthropic(scene).messages.create(ask);
    expect([paused.stop_reason, paused.content.length]).toEqual(["pause_turn", 21]);
    const open = paused.content.at(-1);
    expect(open).toMatchObject({ type: "server_tool_use", input: { query: "again" } });
    for (const stream of [false, true]) {
      scene.answers({ text: 'It is <cite id="1">high</cite>.' });
      const messages = [...ask.messages, { role: "assistant" as const, content: paused.content }];
      const asked = { ...ask, messages } as typeof ask;
      const { content } = stream
        ? await anthropic(scene).messages.stream(asked).finalMessage()
        : await anthropic(scene).messages.create(asked);
      expect(content.map(({ type }) => type)).toEqual(["web_search_tool_result", "text", "text", "text"]);
      expect(content[0]).toMatchObject({ tool_use_id: (open as { id: string }).id });
      // Eleven calls and their results, the same as in the rounds before.
      expect(scene.asked[0]?.messages.map(({ role }) => role)).toEqual([
        "user",
        ...Array.from({ length: 11 }, () => ["assistant", "tool"]).flat(),
      ]);
    }
  });

  test("what was found is known in the next turn, at any provider", async () => {
    const scene = at();
    twoSearches(scene);
    const { content } = await anthropic(scene).messages.create(ask);
    const before = scene.asked.at(-1)?.messages ?? [];
    const next = { role: "user" as const, content: "Sure?" };
    const messages = [...ask.messages, { role: "assistant" as const, content }, next];
    scene.answers({ text: "Yes." });
    await anthropic(scene).messages.create({ ...ask, messages } as typeof ask);
    // The rounds before are repeated byte by byte, so that the provider's cache knows them.
    const repeated = (list: readonly { tool_calls?: unknown; content: unknown }[]) =>
      list.map(({ content: text }) => text);
    expect(repeated(scene.asked[0]?.messages ?? []).slice(0, before.length)).toEqual(repeated(before));
    for (const tools of [ask.tools, []]) {
      const native = { ...ask, model: "anthropic/claude-haiku-4-5", tools, messages } as typeof ask;
      const answer = await anthropic(scene).messages.create(native);
      expect(answer.stop_reason).toBe("end_turn");
      const { body } = scene.rig.received("claude-haiku").at(-1) ?? { body: "" };
      expect(body).toContain("3747 m high");
      expect(body).not.toContain("tool_result");
    }
  });

  test("what another user has found is a title and an address to them; blocks of the provider's own stay as they are", async () => {
    const scene = at();
    twoSearches(scene);
    const { content } = await anthropic(scene).messages.create(ask);
    const messages = [...ask.messages, { role: "assistant", content }, { role: "user", content: "Sure?" }];
    const other = await scene.rig.caller();
    for (const tools of [ask.tools, []]) {
      scene.answers({ text: "Yes." });
      const answer = await post(scene.rig, "/v1/messages", other.token, { ...ask, tools, messages });
      expect(answer.status).toBe(200);
      const sent = JSON.stringify(scene.asked[0]?.messages);
      expect(sent).toContain(scene.url("/mountain"));
      expect(sent.replace("It is 3747 m high", "")).not.toContain("3747 m high");
    }
    const native = [
      { type: "server_tool_use", id: "srvtoolu_01WY", name: "web_search", input: { query: "q" } },
      {
        type: "web_search_tool_result",
        tool_use_id: "srvtoolu_01WY",
        content: [{ type: "web_search_result", url: "https://a.test", title: "A", encrypted_content: "EqgfCioI" }],
      },
      { type: "text", text: "A." },
    ];
    const mixed = [...messages, { role: "assistant", content: native }, { role: "user", content: "And?" }];
    const body = { ...ask, model: "anthropic/claude-haiku-4-5", tools: [], messages: mixed };
    expect((await scene.post("/v1/messages", body)).status).toBe(200);
    const sent = JSON.parse(scene.rig.received("claude-haiku").at(-1)?.body ?? "{}") as typeof body;
    expect(sent.messages.find((message) => JSON.stringify(message.content).includes("EqgfCioI"))?.content).toEqual(
      native,
    );
    expect(JSON.stringify(sent)).toContain("3747 m high");
  });

  test("pages that the user names are fetched", async () => {
    const scene = at();
    scene.finds(mountain);
    const url = scene.url("/mountain");
    scene.answers({ calls: [{ name: "web_fetch", args: { url } }] }, { text: "Done." });
    const body = {
      ...ask,
      messages: [{ role: "user" as const, content: `Read ${url}.` }],
      tools: [{ type: "web_fetch_20250910", name: "web_fetch" }],
    };
    const answer = await scene.post("/v1/messages", body);
    const { content } = (await answer.json()) as { content: JsonObject[] };
    expect(content.slice(0, 2)).toMatchObject([
      { type: "server_tool_use", name: "web_fetch", input: { url } },
      {
        type: "web_fetch_tool_result",
        content: {
          type: "web_fetch_result",
          url,
          content: {
            type: "document",
            title: "A mountain",
            source: { type: "text", data: expect.stringContaining("1902") as string },
          },
        },
      },
    ]);
  });

  test("max_tokens bounds the rounds together", async () => {
    const scene = at();
    scene.finds(mountain);
    scene.answers(search("a"), search("b"));
    const answer = await anthropic(scene).messages.create({ ...ask, max_tokens: 9 });
    expect(scene.asked.map(({ max_tokens, max_completion_tokens }) => max_completion_tokens ?? max_tokens)).toEqual([
      9, 4,
    ]);
    expect(answer.stop_reason).toBe("max_tokens");
  });
});

describe("in chat", () => {
  const ask = { model, messages: [{ role: "user" as const, content: "How high is it?" }], web_search_options: {} };

  test("searches are invisible, and cited pages are annotations", async () => {
    const scene = at();
    twoSearches(scene);
    const { choices, usage } = await openai(scene).chat.completions.create(ask);
    const text = `Let me look. It is 3747 m high, says [a page](${scene.url("/mountain")}).`;
    expect(choices[0]?.message).toMatchObject({ content: text });
    const cited = choices[0]?.message.annotations?.map(({ url_citation: { start_index, end_index } }) =>
      text.slice(start_index, end_index),
    );
    expect(cited).toEqual(["3747 m high", `[a page](${scene.url("/mountain")})`]);
    expect(usage).toMatchObject({
      prompt_tokens: 30,
      completion_tokens: 15,
      server_tool_use: { web_search_requests: 2 },
    });
    twoSearches(scene);
    const stream = openai(scene).chat.completions.stream({ ...ask, stream_options: { include_usage: true } });
    const reasons: unknown[] = [];
    for await (const {
      choices: [choice],
    } of stream)
      if (choice?.finish_reason) reasons.push(choice.finish_reason);
    expect(reasons).toEqual(["stop"]);
    const final = await stream.finalChatCompletion();
    expect(final.choices[0]?.message.content).toBe(text);
    expect(final.usage).toMatchObject({ prompt_tokens: 30, completion_tokens: 15 });
  });

  test("several choices are refused", async () => {
    const answer = await at().post("/v1/chat/completions", { ...ask, n: 2 });
    expect(answer.status).toBe(422);
  });
});

test("a body without such tools is sent as ever", async () => {
  const scene = at();
  scene.answers({ text: "Hi." });
  const answer = await scene.post("/v1/chat/completions", { messages: [{ role: "user", content: "hi" }] });
  expect(answer.status).toBe(200);
  expect(scene.asked).toHaveLength(1);
  expect(scene.asked[0]).not.toHaveProperty("tools");
});
