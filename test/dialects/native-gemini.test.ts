/** Google's own API as an upstream: for Gemini clients, and for requests of others that its compatible layer has no place for. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/core/index.ts";
import {
  type Caller,
  type Rig,
  type ScriptedUpstream,
  simulatedKey,
  startRig,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";

/** The price of every model of the scripted upstream: round figures by the million. */
const price = {
  input_mtok: 1,
  output_mtok: 10,
  cache_read_mtok: 0.5,
  input_audio_mtok: 3,
  cache_audio_read_mtok: 2,
  output_image_mtok: 100,
  output_audio_mtok: 50,
  web_searches_kcount: 14,
};

let rig: Rig;
let scripted: ScriptedUpstream;
let caller: Caller;
beforeAll(async () => {
  scripted = startScriptedUpstream();
  rig = await startRig({
    config: {
      upstream: { retries: 0 },
      pricing: { models: { "scripted/*": price, "google/*+*": price } },
      routing: {
        routes: { either: { tiers: [[{ model: "scripted/gemini-3-pro" }], [{ model: "openai/gpt-4o-mini" }]] } },
      },
    },
    providers: () => ({ scripted: { kind: "google", base_url: scripted.url, api_key: simulatedKey } }),
  });
  caller = await rig.caller();
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
  await scripted.stop();
});

const odd = String.raw`"Grüße \u00e9 \ud83d\ude00 \/ words"`;

function send(path: string, body: string | object, { token } = caller): Promise<Response> {
  return fetch(rig.gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

const native = (model: string, method = "generateContent"): string => `/v1beta/models/google/${model}:${method}`;

/** Straight at the simulator. */
async function direct(path: string, body: string): Promise<string> {
  const url = `${rig.simulators.providers.google}${path.replace("models/google/", "models/").replaceAll("+", "%2B")}`;
  const headers = { "x-goog-api-key": simulatedKey, "content-type": "application/json" };
  const answer = await fetch(url, { method: "POST", headers, body });
  return answer.text();
}

/** The bodies that reached Google's own API for a model, newest last, and the paths. */
function reached(model: string): { path: string; body: string }[] {
  return rig.simulators.requests().filter(({ path }) => path.includes(`/v1beta/models/${model}`));
}

describe("the bytes of a Gemini client", () => {
  const config = '"generationConfig" : { "maxOutputTokens":64 ,"thinkingConfig":{"includeThoughts":true} }';
  const body = `{ "contents":[ {"parts":[{"text":${odd}}],\t"role":"user"} ] ,\n${config}, "safetySettings": [] }\n`;

  test("pass both ways", async () => {
    const path = native("gemini-2.5-flash");
    const answer = await send(path, body);
    expect(answer.status).toBe(200);
    expect(answer.headers.get("x-tollgate-changes")).toBeNull();
    expect(await answer.text()).toBe(await direct(path, body));
    expect(reached("gemini-2.5-flash:").map((one) => one.body)).toContain(body);
  });

  test.each(["", "+split-7", "+crlf"])("pass as a stream%s", async (fault) => {
    const path = `${native(`gemini-3-flash-preview${fault}`, "streamGenerateContent")}?alt=sse`;
    const answer = await send(path, body);
    expect(answer.headers.get("content-type")).toContain("text/event-stream");
    expect(await answer.text()).toBe(await direct(path, body));
  });

  test("are one list without alt=sse", async () => {
    const path = native("gemini-3-flash-preview", "streamGenerateContent");
    const answer = await send(path, body);
    const listed = (await answer.json()) as JsonObject[];
    const straight = JSON.parse(await direct(path, body)) as JsonObject[];
    // The simulator's ids depend on the whole address.
    const withoutIds = (list: JsonObject[]) => list.map((each) => ({ ...each, responseId: "" }));
    expect(withoutIds(listed)).toEqual(withoutIds(straight));
  });

  test("lose the model and the stream, which the path has, and keep the others", async () => {
    const named = body.replace("{ ", '{ "model":"models/other", "stream":true, ');
    const answer = await send(native("gemini-2.5-pro"), named);
    expect(answer.status).toBe(200);
    const sent = JSON.parse(reached("gemini-2.5-pro:").at(-1)?.body ?? "") as JsonObject;
    expect(sent).toEqual(JSON.parse(body) as JsonObject);
  });

  test.each([
    ['"generationConfig": {"temperature" : 1.50,"responseMimeType":"text/plain"}', "generationConfig"],
    ['"generation_config": {"temperature" : 1.50 , "max_output_tokens":null}', "generation_config"],
    ['"generationConfig": {"maxOutputTokens":null,"maxOutputTokens":null}', "generationConfig"],
    ['"generationConfig": null', "generationConfig"],
    ['"labels":{}', "generationConfig"],
  ])("get a limit if they have none: %s", async (given, member) => {
    const answer = await send(native("gemini-2.5-flash-lite"), `{"contents":[{"parts":[{"text":"hi"}]}],${given}}`);
    expect([answer.status, answer.headers.get("x-tollgate-max-output-tokens")]).toEqual([200, "32768"]);
    const sent = reached("gemini-2.5-flash-lite:").at(-1)?.body ?? "";
    const limited = (JSON.parse(sent) as Record<string, JsonObject>)[member];
    expect(limited?.["maxOutputTokens"]).toBe(32_768);
    expect(limited).not.toHaveProperty("max_output_tokens");
    expect(sent.match(/max_?output_?tokens/gi)).toHaveLength(1);
    if (given.includes("1.50")) expect(sent).toContain('"temperature" : 1.50');
  });

  test("are answered again by their retry key, and another model is another request", async () => {
    const headers = {
      authorization: `Bearer ${caller.token}`,
      "content-type": "application/json",
      "idempotency-key": "native-1",
    };
    const ask = (path: string) => fetch(rig.gateway.url + path, { method: "POST", headers, body });
    const [first, again] = [await ask(native("gemini-2.5-flash")), await ask(native("gemini-2.5-flash"))];
    expect(await again.text()).toBe(await first.text());
    expect(again.headers.get("idempotent-replayed")).toBe("true");
    expect((await ask(native("gemini-2.5-pro"))).status).toBe(409);
    expect((await ask(native("gemini-2.5-flash", "streamGenerateContent"))).status).toBe(409);
  });
});

const scriptedPath = (method: string, model = "gemini-3-pro"): string => `/v1beta/models/scripted/${model}:${method}`;
const hello = { contents: [{ parts: [{ text: "hi" }] }] };
const chunk = (parts: object[], more: object = {}): string =>
  `data: ${JSON.stringify({ candidates: [{ content: { role: "model", parts }, index: 0, ...more }] })}\n\n`;
const counted = (usageMetadata: object): string => `data: ${JSON.stringify({ usageMetadata })}\n\n`;
const events = (text: string | ReadableStream): Response =>
  new Response(text, { headers: { "content-type": "text/event-stream" } });

/** The spending of a user's one call, in nano-credits. */
async function costOf(perform: (own: Caller) => Promise<unknown>): Promise<bigint> {
  const own = await rig.caller();
  await perform(own);
  return own.closed();
}

const textsOf = (text: number) => [{ modality: "TEXT", tokenCount: text }];

describe("the charge", () => {
  const usageMetadata = {
    promptTokenCount: 1_000,
    promptTokensDetails: [...textsOf(700), { modality: "AUDIO", tokenCount: 300 }],
    cachedContentTokenCount: 400,
    cacheTokensDetails: [...textsOf(300), { modality: "AUDIO", tokenCount: 100 }],
    toolUsePromptTokenCount: 50,
    candidatesTokenCount: 30,
    candidatesTokensDetails: [...textsOf(20), { modality: "IMAGE", tokenCount: 10 }],
    thoughtsTokenCount: 5,
    totalTokenCount: 1_085,
  };
  // 450 of text, 300 and 100 from the cache, 200 of sound; 25 of text and thought, 10 of a picture.
  const tokens = 450_000n + 150_000n + 200_000n + 600_000n + 250_000n + 1_000_000n;

  test("is that of every kind of token", async () => {
    const candidates = [{ content: { role: "model", parts: [{ text: "x" }] }, finishReason: "STOP", index: 0 }];
    scripted.answerWith(() => Response.json({ candidates, usageMetadata, modelVersion: "gemini-3-pro" }));
    expect(await costOf((own) => send(scriptedPath("generateContent"), hello, own))).toBe(tokens);
  });

  test("is the last one's of a stream, with the searches of any chunk", async () => {
    const groundingMetadata = { webSearchQueries: ["a", "b", "c"] };
    scripted.answerWith(() =>
      events(
        [
          chunk([{ text: "x" }]),
          counted({ promptTokenCount: 1_000, totalTokenCount: 1_000 }),
          chunk([{ text: "y" }], { groundingMetadata }),
          chunk([{ text: "" }], { finishReason: "STOP" }),
          counted(usageMetadata),
        ].join(""),
      ),
    );
    const ask = async (own: Caller) =>
      (await send(`${scriptedPath("streamGenerateContent")}?alt=sse`, hello, own)).text();
    expect(await costOf(ask)).toBe(tokens + 3n * 14_000_000n);
  });

  test("is for an answer, not for each query, before the third generation", async () => {
    const [first] = [{ content: { role: "model", parts: [{ text: "x" }] }, finishReason: "STOP", index: 0 }];
    const groundingMetadata = { webSearchQueries: ["a", "b"] };
    const candidates = [{ ...first, groundingMetadata }];
    const usage = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    const answer = { candidates, usageMetadata: usage, modelVersion: "gemini-2.5-flash" };
    scripted.answerWith(() => Response.json(answer));
    const search = { ...hello, tools: [{ googleSearch: {} }] };
    const ask = (own: Caller) => send(scriptedPath("generateContent", "gemini-2.5-flash"), search, own);
    expect(await costOf(ask)).toBe(14_000_000n + 11_000n);
  });

  test("is nothing for an error, before a stream or as an answer", async () => {
    const error = { code: 503, message: "busy", status: "UNAVAILABLE" };
    for (const status of [503, 200]) {
      scripted.answerWith(() => Response.json({ error }, { status }));
      expect(await costOf((own) => send(scriptedPath("generateContent"), hello, own))).toBe(0n);
    }
  });

  test("is that of what has come if the client leaves, or the stream breaks off or ends with an error", async () => {
    const said = "word ".repeat(400);
    const begun = chunk([{ text: said }]) + counted({ promptTokenCount: 1_000, totalTokenCount: 1_000 });
    const more = chunk([{ text: said }]);
    const failure = `data: ${JSON.stringify({ error: { code: 503, message: "busy", status: "UNAVAILABLE" } })}\n\n`;
    for (const [tail, shown, most] of [
      [failure, "busy", 0n],
      ["", "upstream_interrupted", 1_000_000n + 10_000n * 1_200n],
    ] as const) {
      scripted.answerWith(() => events(begun + more + tail));
      let text = "";
      const cost = await costOf(async (own) => {
        text = await (await send(`${scriptedPath("streamGenerateContent")}?alt=sse`, hello, own)).text();
      });
      expect(text).toContain(shown);
      expect(text).not.toContain("event:");
      expect(cost).toBeLessThanOrEqual(most);
      // The input by its count, and at least the text that came after it by its bytes; an error of the upstream's is free.
      expect(cost).toBeGreaterThanOrEqual(most === 0n ? 0n : 1_000_000n + 10_000n * 400n);
    }
    scripted.answerWith(() =>
      events(
        new ReadableStream({
          start(controller) {
            controller.enqueue(Buffer.from(begun + more));
          },
        }),
      ),
    );
    const left = await costOf(async (own) => {
      const answer = await send(`${scriptedPath("streamGenerateContent")}?alt=sse`, hello, own);
      const reader = answer.body?.getReader();
      await reader?.read();
      await reader?.cancel();
    });
    expect(left).toBeGreaterThanOrEqual(1_000_000n);
  });

  test("never overruns what there is: searches, pictures and thoughts are held before", async () => {
    const poor = await rig.gateway.token({ user: "poor-gemini", credits: 50_000_000n });
    const search = { ...hello, tools: [{ googleSearch: {} }] };
    const before = scripted.requests.length;
    const answer = await fetch(rig.gateway.url + scriptedPath("generateContent"), {
      method: "POST",
      headers: { "x-goog-api-key": poor, "content-type": "application/json" },
      body: JSON.stringify(search),
    });
    const { error } = (await answer.json()) as { error: JsonObject };
    expect([answer.status, error["status"]]).toEqual([402, "PERMISSION_DENIED"]);
    expect(scripted.requests).toHaveLength(before);
  });
});

describe("tools that run at Google", () => {
  const tools = (list: unknown) => ({ contents: [{ parts: [{ text: "news" }] }], tools: list });

  test("a search has its price, in any spelling and in one object", async () => {
    for (const list of [
      [{ googleSearch: {} }],
      [{ google_search: {} }],
      { googleSearch: {} },
      [{ googleSearch: {}, urlContext: {} }],
    ]) {
      const answer = await send(native("gemini-3-flash-preview"), tools(list));
      expect(await answer.text()).toContain("vertexaisearch.example");
      // Two queries by the thousand.
      expect(Number(answer.headers.get("x-tollgate-credits"))).toBeGreaterThan(0.028);
    }
  });

  test.each([[{ googleMaps: {} }], [{ fileSearch: { fileSearchStoreNames: ["x"] } }], [{ mcpServers: [] }]])(
    "%j is left out and named: it has no price here",
    async (tool) => {
      const answer = await send(native("gemini-3-flash-preview"), tools([tool]));
      expect([answer.status, answer.headers.get("x-tollgate-dropped-tools")]).toEqual([
        200,
        Object.keys(tool)[0] ?? "",
      ]);
      expect(reached("gemini-3-flash-preview:").at(-1)?.body).not.toContain(Object.keys(tool)[0] ?? "");
    },
  );
});

describe("a request that the compatible layer has no place for", () => {
  const pdf = "JVBERi0xLjQK";
  const model = "google/gemini-3-flash-preview";
  const document = { type: "document", source: { type: "base64", media_type: "application/pdf", data: pdf } };

  async function messages(body: object): Promise<{ answer: JsonObject; headers: Headers }> {
    const answer = await send("/v1/messages", { model, max_tokens: 500, ...body });
    return { answer: (await answer.json()) as JsonObject, headers: answer.headers };
  }

  const pathsOf = (mark: string): string[] =>
    rig.simulators
      .requests()
      .filter(({ body }) => body.includes(mark))
      .map(({ path }) => path.replace("/google", ""));

  test("a document goes natively, in Messages and in Responses; a text stays", async () => {
    const content = [{ type: "text", text: "mark-pdf-1" }, document];
    const { answer } = await messages({ messages: [{ role: "user", content }] });
    expect(JSON.stringify(answer)).toContain("I see application/pdf (9 bytes)");
    const file = { type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` };
    const input = [{ role: "user", content: [{ type: "input_text", text: "mark-pdf-2" }, file] }];
    expect(await (await send("/v1/responses", { model, input })).text()).toContain("I see application/pdf (9 bytes)");
    await messages({ messages: [{ role: "user", content: "mark-pdf-3" }] });
    const own = "/v1beta/models/gemini-3-flash-preview:generateContent";
    expect([pathsOf("mark-pdf-1"), pathsOf("mark-pdf-2")]).toEqual([[own], [own]]);
    expect(pathsOf("mark-pdf-3")).toEqual(["/v1beta/openai/chat/completions"]);
  });

  test("a search goes natively if it is the only tool; beside functions it is left out, and named", async () => {
    const web = { type: "web_search_20250305", name: "web_search", max_uses: 2 };
    const lookup = { name: "lookup", input_schema: { type: "object", properties: {} } };
    const asked = { messages: [{ role: "user", content: "mark-search-1" }], tools: [web] };
    const { answer, headers } = await messages(asked);
    expect(JSON.stringify(answer)).toContain("vertexaisearch.example");
    expect(Number(headers.get("x-tollgate-credits"))).toBeGreaterThan(0.028);
    expect(headers.get("x-tollgate-changes")).toBe("searches");
    expect(pathsOf("mark-search-1")).toEqual(["/v1beta/models/gemini-3-flash-preview:generateContent"]);
    const both = await messages({ messages: [{ role: "user", content: "mark-search-2" }], tools: [web, lookup] });
    expect(both.headers.get("x-tollgate-dropped-tools")).toBe("web_search_20250305");
    expect(pathsOf("mark-search-2")).toEqual(["/v1beta/openai/chat/completions"]);
    const content = [{ type: "text", text: "mark-search-4" }, document];
    const all = await messages({ messages: [{ role: "user", content }], tools: [web, lookup] });
    expect(all.headers.get("x-tollgate-dropped-tools")).toBe("web_search_20250305");
    expect(rig.simulators.requests().at(-1)?.body).not.toContain("googleSearch");
    const limited = { ...web, allowed_domains: ["a.example"] };
    const left = await messages({ messages: [{ role: "user", content: "mark-search-3" }], tools: [limited] });
    expect(left.headers.get("x-tollgate-dropped-tools")).toBe("web_search_20250305");
  });

  test("a picture is drawn by a model that draws", async () => {
    const body = { model: "google/gemini-3-pro-image", input: "a cat", tools: [{ type: "image_generation" }] };
    const { output } = (await (await send("/v1/responses", body)).json()) as { output: JsonObject[] };
    const drawn = output.find(({ type }) => type === "image_generation_call");
    expect(String(drawn?.["result"])).toStartWith("iVBORw0KGgo");
  });

  test("signatures of Google's own API go back there, until the conversation's end", async () => {
    const tools = [{ name: "lookup", input_schema: { type: "object", properties: {} } }];
    const thinking = { type: "enabled", budget_tokens: 1_024 };
    const first = { role: "user", content: [{ type: "text", text: "mark-signed" }, document] };
    const asked = { max_tokens: 4_096, tools, thinking };
    const { answer: called } = await messages({ ...asked, messages: [first] });
    const content = called["content"] as JsonObject[];
    const { id } = content.find(({ type }) => type === "tool_use") ?? {};
    const results = { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: "18 degrees" }] };
    const history = [first, { role: "assistant", content }, results];
    const { answer: told } = await messages({ ...asked, messages: history });
    expect(JSON.stringify(told)).toContain("The tool answered: 18 degrees");
    const signed = reached("gemini-3-flash-preview:").at(-1)?.body ?? "";
    expect(signed).not.toContain("skip_thought_signature_validator");
    // Without the document it goes on there, as long as its signatures are in it.
    const plain = { role: "user", content: [{ type: "text", text: "mark-plain" }] };
    await messages({ ...asked, messages: [plain, ...history.slice(1)] });
    expect(pathsOf("mark-plain")).toEqual(["/v1beta/models/gemini-3-flash-preview:generateContent"]);
    // Another provider gets none of them.
    const { headers } = await messages({
      ...asked,
      model: "openai/gpt-5-mini",
      messages: [plain, ...history.slice(1)],
    });
    expect(headers.get("x-tollgate-provider")).toBe("openai");
  });

  test("chat stays on the provider's chat endpoint", async () => {
    const file = { type: "file", file: { filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf}` } };
    const content = [{ type: "text", text: "mark-chat" }, file];
    await send("/v1/chat/completions", { model, messages: [{ role: "user", content }] });
    expect(pathsOf("mark-chat")).toEqual(["/v1beta/openai/chat/completions"]);
  });
});

describe("beside other providers", () => {
  test("a route goes on with another one, which gets the request in its dialect", async () => {
    scripted.answerWith(() => Response.json({ error: { code: 503, message: "busy" } }, { status: 503 }));
    const answer = await send("/v1beta/models/either:generateContent", hello);
    expect(await answer.text()).toContain("You said: hi.");
    expect(answer.headers.get("x-tollgate-provider")).toBe("openai");
  });

  test("calls that another provider made get the placeholder of their signatures", async () => {
    const contents = [
      { role: "user", parts: [{ text: "weather?" }] },
      { role: "model", parts: [{ functionCall: { id: "c1", name: "lookup", args: { a: 1 } } }] },
      { role: "user", parts: [{ functionResponse: { id: "c1", name: "lookup", response: { output: "sunny" } } }] },
    ];
    const tools = [{ functionDeclarations: [{ name: "lookup", parameters: { type: "OBJECT" } }] }];
    const answer = await send(native("gemini-3-flash-preview"), { contents, tools });
    expect(await answer.text()).toContain("The tool answered: sunny");
    expect(reached("gemini-3-flash-preview:").at(-1)?.body).toContain("skip_thought_signature_validator");
  });
});

test("tokens are counted by Google, free of charge: contents, and a whole call", async () => {
  const own = await rig.caller();
  const path = native("gemini-2.5-flash", "countTokens");
  const contents = [{ parts: [{ text: "how many?" }] }];
  const whole = { contents, systemInstruction: { parts: [{ text: "Be brief." }] } };
  const counts = [];
  for (const body of [{ contents }, { generateContentRequest: { model: "models/gemini-2.5-flash", ...whole } }]) {
    const answer = await send(path, body, own);
    counts.push(((await answer.json()) as { totalTokens: number }).totalTokens);
  }
  expect(counts[0]).toBeGreaterThan(0);
  expect(counts[1]).toBeGreaterThan(counts[0] ?? 0);
  expect(reached("gemini-2.5-flash:countTokens")).toHaveLength(2);
  const stored = { contents: [{ parts: [{ fileData: { fileUri: "files/abc" } }] }] };
  expect((await send(path, stored, own)).status).toBe(404);
  await until("nothing is charged", async () => (await own.books()).held === 0n);
  expect((await own.books()).spent).toBe(0n);
});
