/** The official SDK's file calls, on both storages; and the files of a provider with a list of its own. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import OpenAI, { toFile } from "openai";
import { engines, type Rig, sharedPostgres, simulatedKey, startRig, storageOn } from "../kit/index.ts";

const postgres = sharedPostgres();

describe.each(engines)("on %s", (engine) => {
  let rig: Rig;
  let users = 0;
  let alice: OpenAI;
  let mallory: OpenAI;
  let service: OpenAI;

  const clientOf = async (user: string, isService = false): Promise<OpenAI> => {
    const apiKey = await rig.gateway.token({ user, service: isService });
    return new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey, maxRetries: 0 });
  };

  beforeAll(async () => {
    rig = await startRig({
      ...(await storageOn(engine, postgres)),
      providers: ({ providers }) => ({
        provider_g: { kind: "byteplus", base_url: providers.byteplus, api_key: simulatedKey, aliases: ["gee"] },
        local: { kind: "openai-compatible", base_url: providers.openai, api_key: "sk-local" },
      }),
    });
  });
  beforeEach(async () => {
    users += 1;
    alice = await clientOf(`alice-${users}`);
    mallory = await clientOf(`mallory-${users}`);
    service = await clientOf(`service-${users}`, true);
  });
  afterAll(() => rig.stop());

  const upload = async (client: OpenAI, text: string, purpose: OpenAI.FilePurpose = "fine-tune") =>
    client.files.create({ file: await toFile(Buffer.from(text), "näme.jsonl"), purpose });

  /** The error of a call: its promise is not the engine's own kind. */
  const errorOf = async (calling: PromiseLike<unknown>): Promise<unknown> => {
    try {
      await calling;
    } catch (error) {
      return error;
    }
    throw new Error("the call succeeded");
  };

  const idsOf = async (files: AsyncIterable<{ id: string }>): Promise<string[]> => {
    const ids: string[] = [];
    for await (const { id } of files) ids.push(id);
    return ids;
  };

  test("create, list, retrieve, content and delete are the owner's", async () => {
    const file = await upload(alice, '{"a":1}');
    expect(file).toMatchObject({ object: "file", bytes: 7, filename: "näme.jsonl", purpose: "fine-tune" });
    expect(await alice.files.retrieve(file.id)).toEqual(file);
    expect(await idsOf(alice.files.list())).toEqual([file.id]);
    const content = await alice.files.content(file.id);
    expect([content.headers.get("content-length"), await content.text()]).toEqual(["7", '{"a":1}']);
    expect(await alice.files.delete(file.id)).toEqual({ id: file.id, object: "file", deleted: true });
    expect(await idsOf(alice.files.list())).toEqual([]);
    expect(await errorOf(alice.files.retrieve(file.id))).toMatchObject({ status: 404, code: "object_not_found" });
  });

  test("nobody else finds a file, but a service does", async () => {
    const { id } = await upload(alice, "secret");
    const before = rig.simulators.total();
    const refused = {
      status: 404,
      code: "object_not_found",
      message: `404 There is no file "${id}" of yours at openai.`,
    };
    expect(await errorOf(mallory.files.retrieve(id))).toMatchObject(refused);
    expect(await errorOf(mallory.files.content(id))).toMatchObject(refused);
    expect(await errorOf(mallory.files.delete(id))).toMatchObject(refused);
    expect(await errorOf(idsOf(mallory.files.list({ after: id })))).toMatchObject(refused);
    expect(rig.simulators.total()).toBe(before);
    expect(await idsOf(mallory.files.list())).toEqual([]);
    expect(await idsOf(service.files.list())).toContain(id);
    expect(await (await service.files.content(id)).text()).toBe("secret");
    expect(await service.files.delete(id)).toMatchObject({ deleted: true });
    expect(await errorOf(alice.files.retrieve(id))).toMatchObject({ status: 404 });
  });

  test("a file may be named in a call by its owner only", async () => {
    const { id } = await upload(alice, "%PDF-1.7", "user_data");
    const ask = (client: OpenAI) =>
      client.responses.create({
        model: "openai/gpt-5-mini",
        input: [
          {
            role: "user",
            content: [
              { type: "input_file", file_id: id },
              { type: "input_text", text: "hi" },
            ],
          },
        ],
      });
    expect((await ask(alice)).status).toBe("completed");
    const param = "input.0.content.0.file_id";
    expect(await errorOf(ask(mallory))).toMatchObject({ status: 404, code: "object_not_found", param });
    await alice.files.delete(id);
    expect(await errorOf(ask(alice))).toMatchObject({ status: 404, param });
  });

  test("pages are full of own files, however many others lie between", async () => {
    const own: string[] = [];
    for (let index = 0; index < 7; index += 1) {
      own.unshift((await upload(alice, `own ${index}`)).id);
      await upload(mallory, `other ${index}`);
      await upload(mallory, `another ${index}`);
    }
    const page = await alice.files.list({ limit: 3 });
    expect([page.data.map(({ id }) => id), page.has_more]).toEqual([own.slice(0, 3), true]);
    expect(page).toMatchObject({ body: { object: "list", first_id: own[0], last_id: own[2] } });
    expect(await idsOf(alice.files.list({ limit: 3 }))).toEqual(own);
    expect(await idsOf(alice.files.list({ limit: 7, order: "asc" }))).toEqual(own.toReversed());
    const last = await alice.files.list({ limit: 3, after: String(own[3]) });
    expect([last.data.map(({ id }) => id), last.has_more]).toEqual([own.slice(4), false]);
    expect(await idsOf(alice.files.list({ purpose: "vision" }))).toEqual([]);
  });

  test("a range of the bytes", async () => {
    const { id } = await upload(alice, "0123456789");
    const range = async (value: string) => {
      const answer = await alice.files.content(id, { headers: { range: value } }).catch((error: unknown) => error);
      if (!(answer instanceof Response)) return (answer as { status: number }).status;
      return [answer.status, answer.headers.get("content-range"), await answer.text()];
    };
    expect(await range("bytes=2-4")).toEqual([206, "bytes 2-4/10", "234"]);
    expect(await range("bytes=-3")).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await range("bytes=50-")).toBe(416);
  });

  test("a provider's own refusal is relayed", async () => {
    const { id } = await upload(alice, "x", "user_data");
    expect(await errorOf(alice.files.content(id))).toMatchObject({
      status: 400,
      message: "400 Not allowed to download files of purpose: user_data",
    });
    expect(await errorOf(upload(alice, "x", "nonsense" as OpenAI.FilePurpose))).toMatchObject({ status: 400 });
    expect(await errorOf(idsOf(alice.files.list({ limit: 99_999 })))).toMatchObject({ status: 400 });
  });

  describe("under a provider's prefix", () => {
    const at = async (client: OpenAI, path: string, init: RequestInit = {}) => {
      const headers = { authorization: `Bearer ${client.apiKey}` };
      const answer = await fetch(`${rig.gateway.url}/v1/${path}`, { ...init, headers });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    const formOf = (fields: Record<string, string | Blob>): RequestInit => {
      const body = new FormData();
      for (const [name, value] of Object.entries(fields)) body.append(name, value);
      return { method: "POST", body };
    };
    const image = new File(["png"], "a.png", { type: "image/png" });

    test.each(["provider_g", "gee", "byteplus"])("%s has a list of its own form", async (prefix) => {
      const made = await at(alice, `${prefix}/files`, formOf({ file: image, purpose: "user_data" }));
      expect([made.status, made.body]).toMatchObject([200, { object: "file", mime_type: "image/png", bytes: 3 }]);
      const { id } = made.body as { id: string };
      const query = `${prefix}/files?purpose=user_data&limit=2&order=desc&unheard=of`;
      const listed = await at(alice, query);
      expect(listed.body).toMatchObject({ object: "file", data: [{ id }], first_id: id, last_id: id, has_more: false });
      expect(rig.simulators.requests().at(-1)?.path).toEndWith(
        "/files?purpose=user_data&limit=2&order=desc&unheard=of",
      );
      expect((await at(mallory, query)).body).toMatchObject({
        object: "file",
        data: [],
        first_id: null,
        has_more: false,
      });
      const { download_url: url } = (await at(alice, `${prefix}/files/${id}`)).body;
      expect(await (await fetch(String(url))).text()).toBe("png");
      expect(await at(alice, `${prefix}/files/${id}/content`)).toMatchObject({
        status: 404,
        body: { error: { code: "unsupported_operation", message: expect.stringContaining("download_url") as string } },
      });
      expect((await at(mallory, `${prefix}/files/${id}/content`)).body).toMatchObject({
        error: { code: "object_not_found" },
      });
      expect((await at(alice, `${prefix}/files/${id}`, { method: "DELETE" })).body).toMatchObject({ deleted: true });
    });

    test("a file may be fetched from an address, but not by way of the operator's stores", async () => {
      const url = "https://example.com/a/film.mp4";
      const made = await at(alice, "provider_g/files", formOf({ url, purpose: "user_data" }));
      expect([made.status, made.body]).toMatchObject([200, { bytes: url.length }]);
      const refused = await at(alice, "provider_g/files", formOf({ url, purpose: "agent", "tos[bucket]": "b" }));
      expect([refused.status, refused.body]).toMatchObject([422, { error: { param: "tos" } }]);
    });

    test("an OpenAI-compatible host is asked too", async () => {
      const made = await at(alice, "local/files", formOf({ file: image, purpose: "batch" }));
      const { id } = made.body as { id: string };
      expect((await at(alice, "files?provider=local")).body).toMatchObject({ object: "list", data: [{ id }] });
      expect((await at(alice, `files/${id}`)).status).toBe(404);
    });

    test("the provider is chosen by its name", async () => {
      const made = await at(alice, "files", formOf({ file: image, purpose: "user_data", provider: "gee" }));
      const { id } = made.body as { id: string };
      expect(made.status).toBe(200);
      expect(
        rig.simulators
          .requests()
          .at(-1)
          ?.parts?.map(({ name }) => name),
      ).toEqual(["file", "purpose"]);
      expect((await at(alice, `files/${id}?provider=provider_g`)).body).toMatchObject({ id });
      expect(rig.simulators.requests().at(-1)?.path).not.toContain("?");
      expect((await at(alice, `files/${id}`)).status).toBe(404);
      const error = async (path: string, init?: RequestInit) => {
        const { status, body } = await at(alice, path, init);
        const { code, message } = body["error"] as { code: string; message: string };
        return [status, code, message.includes("openai, anthropic, byteplus, provider_g")];
      };
      expect(await error("files?provider=nobody")).toEqual([422, "validation_failed", true]);
      expect(await error("files?provider=openai&provider=gee")).toEqual([422, "validation_failed", true]);
      expect(await error("files?provider=xai")).toEqual([404, "unsupported_operation", true]);
      expect(await error("xai/files")).toEqual([404, "unsupported_operation", true]);
      expect(await error("nobody/files")).toEqual([404, "route_not_found", false]);
      const two = formOf({ file: image, purpose: "vision", provider: "gee" });
      expect(await error("files?provider=openai", two)).toEqual([422, "validation_failed", true]);
    });
  });
});
