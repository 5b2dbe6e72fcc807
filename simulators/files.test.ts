/** Files of OpenAI, with its official SDK, and of BytePlus. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { type Simulators, startSimulators } from "./index.ts";

let simulators: Simulators;
beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const statusOf = async (calling: PromiseLike<unknown>): Promise<unknown> => {
  try {
    await calling;
    return 200;
  } catch (error) {
    return error instanceof OpenAI.APIError ? error.status : error;
  }
};

describe("openai", () => {
  const clientOf = (apiKey: string) => new OpenAI({ baseURL: simulators.providers.openai, apiKey, maxRetries: 0 });
  const upload = async (client: OpenAI, more: Partial<OpenAI.FileCreateParams> = {}) =>
    client.files.create({ file: await toFile(Buffer.from("one"), "one.txt"), purpose: "batch", ...more });

  test("stores a file until it is deleted, for the account of its key", async () => {
    const client = clientOf("key-1");
    const [file, equal] = [await upload(client), await upload(client)];
    expect(file).toMatchObject({
      object: "file",
      bytes: 3,
      filename: "one.txt",
      expires_at: null,
      status: "processed",
    });
    expect(equal.id).not.toBe(file.id);
    expect(await client.files.retrieve(file.id)).toEqual(file);
    expect(await (await client.files.content(file.id)).text()).toBe("one");
    expect(await statusOf(clientOf("key-2").files.retrieve(file.id))).toBe(404);
    expect((await clientOf("key-2").files.list()).data).toEqual([]);
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
    expect(await statusOf(client.files.retrieve(file.id))).toBe(404);
  });

  test("lists in pages, newest first", async () => {
    const client = clientOf("key-3");
    const ids: string[] = [];
    for (let index = 0; index < 5; index += 1) ids.unshift((await upload(client)).id);
    const listed: string[] = [];
    for await (const { id } of client.files.list({ limit: 2 })) listed.push(id);
    expect(listed).toEqual(ids);
    expect(await statusOf(client.files.list({ limit: 0 }))).toBe(400);
    expect(await statusOf(client.files.list({ after: "file-none" }))).toBe(404);
  });

  test("refuses what OpenAI refuses", async () => {
    const client = clientOf("key-4");
    const {
      id,
      created_at: at,
      expires_at: until,
    } = await upload(client, {
      purpose: "user_data",
      expires_after: { anchor: "created_at", seconds: 3_600 },
    });
    expect(until).toBe(at + 3_600);
    expect(await statusOf(client.files.content(id))).toBe(400);
    expect(await statusOf(upload(client, { expires_after: { anchor: "created_at", seconds: 60 } }))).toBe(400);
    expect(await statusOf(upload(client, { purpose: "other" as "batch" }))).toBe(400);
    expect(await statusOf(client.post("/files", { body: {} }))).toBe(400);
  });
});

describe("byteplus", () => {
  const ask = async (path: string, fields?: Record<string, string | Blob>) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields ?? {})) body.append(name, value);
    const init = fields === undefined ? {} : { method: "POST", body };
    const headers = { authorization: "Bearer key-1" };
    const answer = await fetch(`${simulators.providers.byteplus}/files${path}`, { ...init, headers });
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
  };

  test("processes a video first, and gives out a file at an address", async () => {
    const file = new File(["film"], "film.mp4", { type: "video/mp4" });
    const { json } = await ask("", { file, purpose: "user_data" });
    expect(json).toMatchObject({ object: "file", status: "processing", bytes: 4, mime_type: "video/mp4" });
    expect(Number(json["expire_at"]) - Number(json["created_at"])).toBe(7 * 86_400);
    const later = (await ask(`/${String(json["id"])}`)).json;
    expect(later).toMatchObject({ id: json["id"], status: "active" });
    expect(await (await fetch(String(later["download_url"]))).text()).toBe("film");
    expect((await ask("")).json).toMatchObject({ object: "file", data: [later], has_more: false });
    expect((await ask(`/${String(json["id"])}/content`)).status).toBe(404);
  });

  test("refuses an upload without a file, with two, or with a wrong time", async () => {
    const file = new File(["x"], "x");
    expect((await ask("", { purpose: "agent" })).status).toBe(400);
    expect((await ask("", { purpose: "agent", file, url: "http://a.test/b" })).status).toBe(400);
    expect((await ask("", { purpose: "batch", file })).status).toBe(400);
    expect((await ask("", { purpose: "agent", file, expire_at: "1" })).status).toBe(400);
  });
});
