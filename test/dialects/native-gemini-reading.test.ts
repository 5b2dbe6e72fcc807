/** Google reads a body as the gateway does: files that other users store there stay theirs, and the call is the one that was held for. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Caller,
  type Rig,
  type ScriptedUpstream,
  simulatedKey,
  startRig,
  startScriptedUpstream,
} from "../kit/index.ts";

let rig: Rig;
let scripted: ScriptedUpstream;
let caller: Caller;
beforeAll(async () => {
  scripted = startScriptedUpstream();
  rig = await startRig({
    config: { pricing: { models: { "scripted/*": { input_mtok: 1, output_mtok: 10 } } } },
    providers: () => ({ scripted: { kind: "google", base_url: scripted.url, api_key: simulatedKey } }),
  });
  caller = await rig.caller();
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
  await scripted.stop();
});

function send(path: string, body: string | object): Promise<Response> {
  return fetch(rig.gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${caller.token}`, "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

const native = (model: string): string => `/v1beta/models/google/${model}:generateContent`;

describe("what another user stores at Google", () => {
  const uris = [
    "files/abc",
    "https://generativelanguage.googleapis.com/v1beta/files/abc",
    "https://generativelanguage.googleapis.com:443/v1beta/files/abc",
    "HTTPS://generativelanguage.googleapis.com./v1beta/files/abc",
    "https://x@generativelanguage.googleapis.com/v1beta/files/abc",
    `https://${"x".repeat(600)}@generativelanguage.googleapis.com/v1beta/files/abc`,
    String.raw`https:\\generativelanguage.googleapis.com/v1beta/files/abc`,
    "gs://bucket/abc",
    " files/abc",
    "https://storage.cloud.google.com/bucket/abc",
  ];

  test.each(uris)("is not found: %j", async (uri) => {
    const before = rig.simulators.requests().length;
    for (const part of [
      { fileData: { fileUri: uri, mimeType: "application/pdf" } },
      { file_data: { file_uri: uri } },
      { functionResponse: { name: "f", response: {}, parts: [{ fileData: { fileUri: uri } }] } },
      { text: "x", fileData: { fileUri: "https://fine.example/a", file_uri: uri } },
    ]) {
      const answer = await send(native("gemini-2.5-flash"), { contents: [{ parts: [{ text: "read" }, part] }] });
      expect(answer.status).toBe(404);
    }
    const prompt = {
      contents: { parts: { text: "hi" } },
      system_instruction: { parts: [{ fileData: { fileUri: uri } }] },
    };
    expect((await send(native("gemini-2.5-flash"), prompt)).status).toBe(404);
    expect(rig.simulators.requests()).toHaveLength(before);
  });

  test("neither are its prompts, nor files in other clients' words", async () => {
    const contents = [{ parts: [{ text: "hi" }] }];
    for (const name of ["cachedContent", "cached_content"]) {
      expect((await send(native("gemini-2.5-flash"), { contents, [name]: "cachedContents/abc" })).status).toBe(404);
    }
    const source = { type: "file", file_id: "files/abc" };
    const content = [{ type: "document", source }];
    const messages = { model: "google/gemini-2.5-flash", max_tokens: 64, messages: [{ role: "user", content }] };
    expect([404, 422]).toContain((await send("/v1/messages", messages)).status);
    const input = [{ role: "user", content: [{ type: "input_file", file_id: "files/abc" }] }];
    expect([404, 422]).toContain((await send("/v1/responses", { model: "google/gemini-2.5-flash", input })).status);
    expect(JSON.stringify(rig.simulators.requests())).not.toContain("files/abc");
  });

  test.each(["gs://bucket/abc", "https://generativelanguage.googleapis.com:443/v1beta/files/abc"])(
    "nor is its address in other clients' words: %s",
    async (address) => {
      const url = JSON.stringify(address).replace('"h', String.raw`"\u0068`);
      const content = `[{"type":"document","source":{"type":"url","url":${url}}}]`;
      const messages = `{"model":"google/gemini-2.5-flash","max_tokens":64,"messages":[{"role":"user","content":${content}}]}`;
      expect((await send("/v1/messages", messages)).status).toBe(422);
      const file = `[{"role":"user","content":[{"type":"input_file","file_url":${url}}]}]`;
      const responses = `{"model":"google/gemini-2.5-flash","input":${file}}`;
      expect((await send("/v1/responses", responses)).status).toBe(422);
      expect(JSON.stringify(rig.simulators.requests())).not.toContain("files/abc");
    },
  );

  test("nor is one that a null of the same name hides", async () => {
    const part = '{"fileData":{"fileUri":"files/hidden","fileUri":null}}';
    const answer = await send(native("gemini-2.5-flash"), `{"contents":[{"parts":[{"text":"read"},${part}]}]}`);
    expect(answer.status).toBe(422);
    const tools = '[{"fileSearch":{"fileSearchStoreNames":["fileSearchStores/hidden"]},"fileSearch":null}]';
    await send(native("gemini-2.5-flash"), `{"contents":[{"parts":[{"text":"hi"}]}],"tools":${tools}}`);
    expect(JSON.stringify(rig.simulators.requests())).not.toContain("hidden");
  });

  test("an address of anybody's passes", async () => {
    const parts = [
      { text: "read" },
      { fileData: { fileUri: "https://www.youtube.com/watch?v=1", mimeType: "video/mp4" } },
    ];
    const answer = await send(native("gemini-2.5-flash"), { contents: [{ parts }] });
    expect(await answer.text()).toContain("I see video https://www.youtube.com/watch?v=1");
  });
});

test("a member in both spellings goes upstream once, as it was held for", async () => {
  const candidates = [{ content: { role: "model", parts: [{ text: "x" }] }, finishReason: "STOP", index: 0 }];
  scripted.answerWith(() =>
    Response.json({ candidates, usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 } }),
  );
  const answer = await send("/v1beta/models/scripted/gemini-3-pro:generateContent", {
    contents: [{ parts: [{ text: "hi" }] }],
    generationConfig: { maxOutputTokens: 16, candidateCount: 1 },
    generation_config: { maxOutputTokens: 65_536, candidateCount: 8 },
  });
  expect(answer.status).toBe(200);
  const [sent, ...more] = scripted.requests;
  expect(more).toEqual([]);
  expect(sent?.body).toContain('"maxOutputTokens":16');
  expect(sent?.body).not.toMatch(/65_?536|generation_config|"candidateCount":8/);
});

describe("a name that stands twice in an inner object", () => {
  const stored = "https://generativelanguage.googleapis.com/v1beta/files/hidden";

  test.each([
    `{"contents":[{"parts":[{"text":"hi"},{"fileData":{"fileUri":"${stored}","fileUri":"https://fine.example/a.pdf"}}]}]}`,
    `{"contents":[{"parts":[{"fileData":{"fileUri":"${stored}"}}],"parts":[{"text":"hi"}]}]}`,
    `{"contents":[{"parts":[{"fileData":{"fileUri":"${stored}"}}],"\\u0070arts":[{"text":"hi"}]}]}`,
    '{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"candidateCount":8,"candidateCount":1}}',
    '{"contents":[{"parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":71,"topP":1,"maxOutputTokens":72}}',
    '{"contents":[{"parts":[{"text":"hi"}]}],"tools":[{"googleMaps":{}, "googleMaps":{}}, {}]}',
  ])("goes upstream once, with the value that was checked: %s", async (body) => {
    const candidates = [{ content: { role: "model", parts: [{ text: "x" }] }, finishReason: "STOP", index: 0 }];
    scripted.answerWith(() =>
      Response.json({ candidates, usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1 } }),
    );
    expect((await send("/v1beta/models/scripted/gemini-3-pro:generateContent", body)).status).toBe(200);
    expect(scripted.requests).toHaveLength(1);
    const [sent] = scripted.requests;
    expect(sent?.body).toContain("hi");
    expect(sent?.body).not.toMatch(/hidden|"candidateCount":8|"maxOutputTokens":71|googleMaps/);
    await send("/v1beta/models/google/gemini-2.5-flash:countTokens", body);
    expect(JSON.stringify(rig.simulators.requests())).not.toContain("files/hidden");
  });
});
