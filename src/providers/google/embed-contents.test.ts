import { describe, expect, test } from "bun:test";
import { GatewayError, type JsonObject } from "../../core/index.ts";
import { embeddings } from "./embeddings.ts";

const model = "gemini-embedding-2";
const image = (url: string) => [{ type: "image_url", image_url: { url } }];

async function sent(body: JsonObject): Promise<JsonObject> {
  const made = await embeddings.forBody?.(body)?.toUpstream?.({ body, files: [] }, model);
  const json = made?.requests[0].json;
  if (json === undefined) throw new Error("it is sent as it came");
  return json;
}

const refusalOf = async (body: JsonObject): Promise<string | undefined> => {
  const thrown = await sent(body).catch((reason: unknown) => reason);
  return thrown instanceof GatewayError ? thrown.param : undefined;
};

describe("what Google takes", () => {
  test("a hundred texts with a purpose and a short title", async () => {
    const body = { input: Array.from({ length: 100 }, () => "a"), input_type: "CLUSTERING", title: "b".repeat(1024) };
    expect(await sent(body)).toMatchObject({ requests: { length: 100 } });
  });

  test("an image by its data or a public address", async () => {
    const [data, fileUri] = ["data:image/png;base64,AAAA", "https://a.test/cat.png?googleapis.com"];
    const { requests } = await sent({ input: [...image(data), ...image(fileUri)] });
    const parts = [{ inlineData: { mimeType: "image/png", data: "AAAA" } }, { fileData: { fileUri } }];
    expect(requests).toMatchObject([{ content: { parts } }]);
  });
});

const texts = Array.from({ length: 101 }, () => "a");
const googles = "generativelanguage.googleapis.com/v1beta/files/abc";
describe("refused before the hold", () => {
  test.each<[string, JsonObject, string]>([
    ["more texts", { input: texts, input_type: "CLUSTERING" }, "input"],
    ["another purpose", { input: "a", input_type: "x".repeat(60_000) }, "input_type"],
    ["a long title", { input: "a", input_type: "CLUSTERING", title: "b".repeat(1025) }, "title"],
    ["a document", { input: image("data:application/pdf;base64,AAAA") }, "input"],
    ["sound", { input: image("data:audio/mpeg;base64,AAAA") }, "input"],
    ["data of no type", { input: image("data:,AAAA") }, "input"],
    ["a file of Google's", { input: image(`https://${googles}`) }, "input"],
    ["one with a port", { input: image(`https://Generativelanguage.googleapis.com.:443/v1beta/files/abc`) }, "input"],
    ["one with a user", { input: image(` https://me@${googles}`) }, "input"],
    ["one by its name", { input: image("files/abc") }, "input"],
    ["one of a bucket", { input: image("gs://bucket/cat.png") }, "input"],
    ["one with a long address", { input: image(`https://${googles}?${"a".repeat(600)}`) }, "input"],
  ])("%s", async (_title, body, param) => {
    expect(await refusalOf(body)).toBe(param);
  });
});

describe("tokens are charged by what they are of", () => {
  const usage = (body: JsonObject, usageMetadata: JsonObject) =>
    embeddings.forBody?.(body)?.readUsage({ embeddings: [], usageMetadata })?.usage;
  const text = { input: "a", input_type: "CLUSTERING" };
  const picture = { input: [{ type: "text", text: "a" }, ...image("data:image/png;base64,AAAA")] };
  const promptTokensDetails = [
    { modality: "TEXT", tokenCount: 3 },
    { modality: "IMAGE", tokenCount: 7 },
  ];

  test("as Google says", () => {
    const usageMetadata = { promptTokenCount: 10, promptTokensDetails };
    expect(usage(picture, usageMetadata)).toEqual({ input: 3, inputImage: 7, requests: 1 });
  });

  test("without details as images if there is one, else as text", () => {
    expect(usage(picture, { promptTokenCount: 10 })).toEqual({ input: 0, inputImage: 10, requests: 1 });
    expect(usage(text, { promptTokenCount: 10 })).toEqual({ input: 10, inputImage: 0, requests: 1 });
    expect(usage(text, {})).toBeUndefined();
  });
});
