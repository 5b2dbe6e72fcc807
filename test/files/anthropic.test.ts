/** Files by Anthropic's SDK: they are stored at the first provider of that kind, for their user alone. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import Anthropic, { NotFoundError } from "@anthropic-ai/sdk";
import { type Gateway, lastReceived, type Rig, simulatedKey, startGateway, startRig } from "../kit/index.ts";

let rig: Rig;
let second: Gateway;
beforeAll(async () => {
  rig = await startRig({
    config: { upstream: { retries: 0 } },
    providers: ({ providers }) => ({
      other: {
        kind: "anthropic",
        base_url: providers.anthropic,
        api_keys: ["sk-other-account-1", "sk-other-account-2"],
      },
    }),
  });
  // Without a provider of Anthropic's kind.
  second = await startGateway({
    providers: { openai: { kind: "openai", base_url: rig.simulators.providers.openai, api_key: simulatedKey } },
  });
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
  await second.stop();
});

const clientOf = (token: string, { url } = rig.gateway) =>
  new Anthropic({ baseURL: url, apiKey: token, maxRetries: 0 });
const newClient = async () => clientOf((await rig.caller()).token);
const upload = (client: Anthropic, name: string) =>
  client.beta.files.upload({ file: new File([`text of ${name}`], name, { type: "text/plain" }) });

test("an upload goes to Anthropic, in its format", async () => {
  const client = await newClient();
  const file = await upload(client, "a.txt");
  expect(lastReceived(rig).path).toStartWith("/anthropic/v1/files");
  expect(file).toMatchObject({ type: "file", filename: "a.txt", size_bytes: 13 });
  expect(await client.beta.files.retrieveMetadata(file.id)).toMatchObject({ id: file.id });
  expect(await client.beta.files.delete(file.id)).toEqual({ id: file.id, type: "file_deleted" });
  const gone: unknown = await client.beta.files.retrieveMetadata(file.id).catch((thrown: unknown) => thrown);
  expect(gone).toBeInstanceOf(NotFoundError);
});

test("each user lists its own, page by page", async () => {
  const [client, stranger] = [await newClient(), await newClient()];
  const names = ["a", "b", "c", "d", "e"];
  for (const name of names) {
    await upload(client, name);
    await upload(stranger, `${name} of another`);
  }
  const listed: string[] = [];
  for await (const { filename } of client.beta.files.list({ limit: 2 })) listed.push(filename);
  expect(listed).toEqual(names.toReversed());
});

test("another user's file is not found, on any route and in Messages", async () => {
  const [client, stranger] = [await newClient(), await newClient()];
  const { id } = await upload(client, "secret.txt");
  const before = rig.simulators.requests().length;
  for (const asked of [
    stranger.beta.files.retrieveMetadata(id),
    stranger.beta.files.download(id),
    stranger.beta.files.delete(id),
    stranger.messages.create({
      model: "anthropic/claude-haiku-4-5",
      max_tokens: 50,
      messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: id } }] }],
    } as Anthropic.MessageCreateParamsNonStreaming),
  ]) {
    const reason: unknown = await asked.catch((thrown: unknown) => thrown);
    expect(reason).toBeInstanceOf(NotFoundError);
    expect((reason as NotFoundError).error).toMatchObject({ type: "error", error: { type: "not_found_error" } });
  }
  expect(rig.simulators.requests().length).toBe(before);
});

test("a file in Messages pins the key that made it", async () => {
  const { token } = await rig.caller();
  const client = clientOf(token);
  const headers = { "anthropic-version": "2023-06-01", "x-api-key": token };
  const form = new FormData();
  form.append("file", new Blob(["text"], { type: "text/plain" }), "a.txt");
  const made = await fetch(`${rig.gateway.url}/v1/other/files`, { method: "POST", headers, body: form });
  const { id } = (await made.json()) as { id: string };
  const keyOf = () => lastReceived(rig).headers["x-api-key"];
  const key = keyOf();
  for (let turn = 0; turn < 3; turn += 1) {
    await client.messages.create({
      model: "other/claude-haiku-4-5",
      max_tokens: 50,
      messages: [{ role: "user", content: [{ type: "document", source: { type: "file", file_id: id } }] }],
    } as Anthropic.MessageCreateParamsNonStreaming);
    expect(keyOf()).toBe(key);
  }
});

describe("without a provider of that kind", () => {
  test("the answer is 404 in Anthropic's shape", async () => {
    const client = clientOf(await second.token(), second);
    const reason: unknown = await upload(client, "a.txt").catch((thrown: unknown) => thrown);
    expect(reason).toBeInstanceOf(NotFoundError);
    expect((reason as NotFoundError).error).toMatchObject({ type: "error", error: { type: "not_found_error" } });
  });

  test("OpenAI's clients go on as before", async () => {
    const form = new FormData();
    form.append("purpose", "user_data");
    form.append("file", new Blob(["text"]), "a.txt");
    const headers = { authorization: `Bearer ${await second.token()}` };
    const answer = await fetch(`${second.url}/v1/files`, { method: "POST", headers, body: form });
    expect([answer.status, ((await answer.json()) as { object: string }).object]).toEqual([200, "file"]);
  });
});
