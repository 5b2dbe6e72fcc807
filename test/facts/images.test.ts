/** Images that a client gives by their addresses, for providers that take their data alone. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chatPath, lastReceived, messagesPath, post, responsesPath, type Rig, startRig } from "../kit/index.ts";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const data = `data:image/png;base64,${png.toString("base64")}`;
const MEBIBYTE = 1024 * 1024;
const notes = "a note. ".repeat(20_000);

let asked: string[] = [];
/** Serves images by path: as their owners' hosts do, also with a wrong type or none. */
const images = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch({ url }) {
    const { pathname } = new URL(url);
    asked.push(pathname);
    if (pathname === "/moved") return Response.redirect("/cat.png", 302);
    if (pathname === "/secret") return Response.redirect("http://127.0.0.2:1/", 302);
    if (pathname === "/page") return new Response("<html>", { headers: { "content-type": "text/html" } });
    if (pathname === "/paper") return new Response("%PDF-1.4 and so on");
    if (pathname === "/notes") return new Response(notes, { headers: { "content-type": "text/markdown" } });
    if (pathname === "/sound") return new Response("ID3", { headers: { "content-type": "audio/mpeg" } });
    if (pathname === "/large") return new Response(Buffer.alloc(11 * MEBIBYTE, png));
    if (pathname.startsWith("/cat")) return new Response(png, { headers: { "content-type": "text/plain" } });
    return new Response("no", { status: 404 });
  },
});
const at = (path: string): string => new URL(path, images.url).href;

let rig: Rig;
let token: string;
beforeAll(async () => {
  rig = await startRig({
    config: { upstream: { retries: 0 }, web: { allow_private_hosts: [images.url.host] } },
  });
  ({ token } = await rig.caller());
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
  await images.stop(true);
});
beforeEach(() => {
  asked = [];
});

const google = "google/gemini-2.5-flash";
const chatImage = (url: string) => ({ type: "image_url", image_url: { url } });
const text = { type: "text", text: "Describe it." };
const chat = (urls: readonly string[], model = google) => ({
  model,
  messages: [{ role: "user", content: [text, ...urls.map(chatImage)] }],
});

/** The last request to a simulator. */
const sent = (): string => lastReceived(rig).body;

describe("an address becomes data for Google", () => {
  const source = { type: "url", url: at("/cat.png") };
  const image = { type: "image", source };
  const result = { type: "tool_result", tool_use_id: "toolu_1", content: [image] };
  const call = { type: "tool_use", id: "toolu_1", name: "f", input: {} };
  const tools = [{ name: "f", input_schema: { type: "object", properties: {} } }];
  test.each([
    [chatPath, chat([at("/cat.png")])],
    [messagesPath, { model: google, max_tokens: 50, messages: [{ role: "user", content: [text, image] }] }],
    [
      messagesPath,
      {
        model: google,
        max_tokens: 50,
        tools,
        messages: [
          { role: "user", content: "Look." },
          { role: "assistant", content: [call] },
          { role: "user", content: [result] },
        ],
      },
    ],
    [
      responsesPath,
      { model: google, input: [{ role: "user", content: [{ type: "input_image", image_url: at("/cat.png") }] }] },
    ],
  ])("in %s", async (path, body) => {
    const answer = await post(rig, path, token, body);
    expect(answer.status, await answer.text()).toBe(200);
    expect(sent()).toContain(data);
    expect(sent()).not.toContain(at("/"));
    expect(answer.headers.get("x-tollgate-changes")).toContain("images");
    expect(asked).toEqual(["/cat.png"]);
  });

  test("also if its letters are escaped", async () => {
    const escaped = (code: string) => `\\u00${code}`;
    const url = at("/cat.png").replace("http://", `${escaped("68")}t${escaped("54").toLowerCase()}p:\\/\\/`);
    const content = `[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"${url}"}}]`;
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const body = `{"model":"${google}","messages":[{"role":"user","content":${content}}]}`;
    const answer = await fetch(rig.gateway.url + chatPath, { method: "POST", headers, body });
    expect(answer.status, await answer.text()).toBe(200);
    expect(sent()).toContain(data);
  });

  test("once for each address, after redirects, streamed", async () => {
    const answer = await post(rig, chatPath, token, {
      ...chat([at("/moved"), at("/moved"), data]),
      stream: true,
    });
    expect(answer.status, await answer.text()).toBe(200);
    expect(sent().split(data).length - 1).toBe(3);
    expect(asked).toEqual(["/moved", "/cat.png"]);
  });
});

test("providers that fetch images get the address", async () => {
  const answer = await post(rig, chatPath, token, chat([at("/cat.png")], "openai/gpt-4o-mini"));
  expect([answer.status, answer.headers.get("x-tollgate-changes")]).toEqual([200, null]);
  await answer.text();
  expect(sent()).toContain(at("/cat.png"));
  expect(asked).toEqual([]);
});

test.each([
  ["a missing one", [at("/none")], "status 404"],
  ["a page", [at("/page")], "no image"],
  ["a private address behind a redirect", [at("/secret")], "could not fetch"],
  ["a private address", ["http://169.254.169.254/latest/meta-data"], "could not fetch"],
  ["a host without an address", ["https://nowhere.invalid/cat.png"], "could not fetch"],
  ["more than 20 MiB together", [at("/large?1"), at("/large?2")], "20 MiB"],
  ["one of which the parts together have more than 20 MiB", [at("/large"), at("/large")], "20 MiB"],
  ["more than ten", Array.from({ length: 11 }, (_, index) => at(`/cat-${index}.png`)), "only 10"],
])("%s is a 422 before anything is held or sent", async (_title, urls, why) => {
  const before = rig.simulators.requests().length;
  const answer = await post(rig, chatPath, token, chat(urls));
  const { error } = (await answer.json()) as { error: { code: string; message: string; param: string } };
  expect([answer.status, error.code]).toEqual([422, "image_unreachable"]);
  expect(error.message).toContain(why);
  expect(error.param).toMatch(/^messages\.0\.content\.\d+$/);
  expect(rig.simulators.requests().length).toBe(before);
});

test("in Messages the refusal has that shape", async () => {
  const image = { type: "image", source: { type: "url", url: at("/none") } };
  const body = { model: google, max_tokens: 50, messages: [{ role: "user", content: [image] }] };
  const answer = await post(rig, messagesPath, token, body);
  const { type, error } = (await answer.json()) as { type: string; error: { type: string; message: string } };
  expect([answer.status, type, error.type]).toEqual([422, "error", "invalid_request_error"]);
  expect(error.message).toContain("messages.0.content.0");
});

describe("documents by their addresses, toward chat", () => {
  const model = "mistral/mistral-small-latest";
  const gemini = (path: string, mimeType?: string) => ({
    contents: [{ parts: [{ text: "Read it." }, { fileData: { fileUri: at(path), ...(mimeType && { mimeType }) } }] }],
  });
  const ask = (body: object, to = model) => post(rig, `/v1beta/models/${to}:generateContent`, token, body);

  test.each([
    [
      "/paper",
      "application/pdf",
      `data:application/pdf;base64,${Buffer.from("%PDF-1.4 and so on").toString("base64")}`,
    ],
    ["/paper", undefined, "data:application/pdf;base64,"],
    ["/notes", "text/markdown", "a note. a note. "],
    ["/cat", "image/png", at("/cat")],
    ["/cat", undefined, data],
  ])("%s as %s reaches the provider", async (path, type, expected) => {
    const answer = await ask(gemini(path, type));
    expect(answer.status, await answer.text()).toBe(200);
    expect(sent()).toContain(expected);
  });

  test("in Messages and Responses too", async () => {
    const document = { type: "document", source: { type: "url", url: at("/paper") } };
    const messages = [{ role: "user", content: [text, document] }];
    expect((await post(rig, messagesPath, token, { model, max_tokens: 50, messages })).status).toBe(200);
    expect(sent()).toContain("data:application/pdf;base64,");
    const input = [{ role: "user", content: [{ type: "input_file", file_url: at("/paper") }] }];
    expect((await post(rig, responsesPath, token, { model, input })).status).toBe(200);
    expect(sent()).toContain("data:application/pdf;base64,");
  });

  test.each([
    ["/page", "no PDF, text or image"],
    ["/sound", "no PDF, text or image"],
    ["/none", "status 404"],
    ["/secret", "could not fetch"],
  ])("%s is a 422", async (path, why) => {
    const answer = await ask(gemini(path));
    const { error } = (await answer.json()) as { error: { code: number; message: string; status: string } };
    expect([answer.status, error.code, error.status]).toEqual([422, 422, "INVALID_ARGUMENT"]);
    expect(error.message).toContain(why);
  });

  test("a text is held by its length before the provider is asked", async () => {
    const poor = await rig.gateway.token({ user: "poor", credits: 100_000_000n });
    const path = `/v1beta/models/${model}:generateContent`;
    const short = { generationConfig: { maxOutputTokens: 1 } };
    const paper = await post(rig, path, poor, { ...gemini("/paper"), ...short });
    expect(paper.status, await paper.text()).toBe(200);
    const before = rig.simulators.requests().length;
    expect((await post(rig, path, poor, { ...gemini("/notes"), ...short })).status).toBe(402);
    expect(rig.simulators.requests().length).toBe(before);
  });
});
