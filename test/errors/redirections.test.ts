/** A redirection in the place of an upstream's answer is 502 on every route: the key must not follow it, and the client has no business there. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  expectNoInside,
  type Rig,
  type ScriptedUpstream,
  startRig,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";
import { forms, handshake, posts } from "./every-route.ts";

const elsewhere = "https://elsewhere.example/steal";
const statuses = [300, 301, 302, 303, 304, 307, 308];

let rig: Rig;
let upstream: ScriptedUpstream;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  rig = await startRig({
    config: { upstream: { retries: 0 } },
    providers: () => ({
      openai: { kind: "openai", base_url: upstream.url, api_key: "k-one" },
      anthropic: { kind: "anthropic", base_url: upstream.url, api_key: "k-two" },
      chats: { kind: "openai-compatible", base_url: upstream.url, api_key: "k-three" },
    }),
  });
});
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
});

let turn = 0;

/** From now on, the upstream redirects, with one status after the other. */
function redirect(): void {
  upstream.answerWith(() => {
    turn += 1;
    const status = statuses[turn % statuses.length] ?? 302;
    const body = status === 304 ? null : `<a href="${elsewhere}">moved</a>`;
    return new Response(body, { status, headers: { location: elsewhere, "content-type": "text/html" } });
  });
}

async function expectRedirectionRefused(answer: Response): Promise<void> {
  const text = await answer.text();
  expect(text).toMatch(/The upstream of \w+ answered with status 30\d\./);
  expect(answer.status).toBe(502);
  expect(answer.headers.get("location")).toBeNull();
  expect(answer.headers.get("content-type")).toStartWith("application/json");
  expect(text).not.toContain("elsewhere");
  expectNoInside(text);
}

async function ask(token: string, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string> | undefined) };
  return fetch(rig.gateway.url + path, { redirect: "manual", ...init, headers });
}

const json = { "content-type": "application/json" };
const postJson = (token: string, path: string, body: object): Promise<Response> =>
  ask(token, path, { method: "POST", headers: json, body: JSON.stringify(body) });

function formOf(fields: Readonly<Record<string, string | Blob>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
}

describe("a redirection is 502, and free", () => {
  test.each([...posts])("POST %s %j", async (path, body) => {
    redirect();
    const caller = await rig.caller();
    await expectRedirectionRefused(await postJson(caller.token, path, body));
    expect(upstream.requests).toHaveLength(1);
    expect(await caller.closed()).toBe(0n);
  });

  test.each([...forms])("POST %s with a form", async (path, fields) => {
    redirect();
    const caller = await rig.caller();
    await expectRedirectionRefused(await ask(caller.token, path, { method: "POST", body: formOf(fields) }));
    expect(await caller.closed()).toBe(0n);
  });

  test("the handshake of a realtime session", async () => {
    redirect();
    const caller = await rig.caller();
    await expectRedirectionRefused(
      await ask(caller.token, "/v1/realtime?model=openai/gpt-realtime", { headers: handshake }),
    );
    expect(await caller.closed()).toBe(0n);
  });
});

describe("a redirection of what is looked up is 502", () => {
  test("files: the list, one, its content, its deletion", async () => {
    const { token } = await rig.caller();
    upstream.answerWith(() => Response.json({ id: "file-one", object: "file", bytes: 2, purpose: "user_data" }));
    const form = formOf(forms[0]?.[1] ?? {});
    expect((await ask(token, "/v1/files", { method: "POST", body: form })).status).toBe(200);
    redirect();
    await expectRedirectionRefused(await ask(token, "/v1/files"));
    await expectRedirectionRefused(await ask(token, "/v1/files/file-one"));
    await expectRedirectionRefused(await ask(token, "/v1/files/file-one/content"));
    await expectRedirectionRefused(await ask(token, "/v1/files/file-one", { method: "DELETE" }));
  });

  test("stored responses: one, its items, its deletion", async () => {
    const { token } = await rig.caller();
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    upstream.answerWith(() =>
      Response.json({ id: "resp_one", object: "response", status: "completed", output: [], usage }),
    );
    expect((await postJson(token, "/v1/responses", { model: "openai/gpt-4o-mini", input: "hi" })).status).toBe(200);
    redirect();
    await expectRedirectionRefused(await ask(token, "/v1/responses/resp_one"));
    await expectRedirectionRefused(await ask(token, "/v1/responses/resp_one/input_items"));
    await expectRedirectionRefused(await ask(token, "/v1/responses/resp_one", { method: "DELETE" }));
  });

  test("videos: the bytes, the deletion; a look-up shows the job as it was", async () => {
    const caller = await rig.caller();
    const { token } = caller;
    const video = {
      id: "video_one",
      object: "video",
      model: "sora-2",
      status: "queued",
      seconds: "4",
      size: "720x1280",
    };
    upstream.answerWith(() => Response.json(video));
    expect((await postJson(token, "/v1/videos", { model: "openai/sora-2", prompt: "a cat" })).status).toBe(200);
    redirect();
    const shown = await ask(token, "/v1/videos/video_one");
    expect([shown.status, await shown.json()]).toEqual([200, expect.objectContaining({ status: "queued" })]);
    await expectRedirectionRefused(await ask(token, "/v1/videos/video_one", { method: "DELETE" }));
    upstream.answerWith(() => Response.json({ ...video, status: "completed" }));
    await until("the end of the job", async () => {
      const { status } = (await (await ask(token, "/v1/videos/video_one")).json()) as { status: string };
      return status === "completed";
    });
    redirect();
    await expectRedirectionRefused(await ask(token, "/v1/videos/video_one/content"));
    await expectRedirectionRefused(await ask(token, "/v1/videos/video_one", { method: "DELETE" }));
  });
});
