import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chatTranslation } from "./chat/index.ts";
import { failureOf, type TranslationTarget } from "./conversation/index.ts";
import { GatewayError, type JsonObject } from "../core/index.ts";
import { messagesTranslation } from "./messages/index.ts";
import { chatAnswer, messagesAnswer, type ToldTwice } from "./testing/arbitrary-answers.ts";
import { chatBody, messagesBody } from "./testing/arbitrary-requests.ts";
import { chatUpstream, clientOf, messagesUpstream } from "./testing/contexts.ts";
import { dataOfStream } from "./testing/fold-chat.ts";
import { errorsBy, fieldsBy, schemasAbsent } from "./testing/schemas.ts";
import { TranslatedStream } from "./translated-stream.ts";

if (schemasAbsent) console.log("schemas.test.ts is skipped: there is no ../shared/spec to validate against");

const client = clientOf({ stream_options: { include_usage: true } });
const target: TranslationTarget = { model: "upstream-model", origin: "somebody", developerRole: true };

const upstreams = [
  { from: "chat", translation: chatTranslation, context: chatUpstream, answers: chatAnswer },
  { from: "messages", translation: messagesTranslation, context: messagesUpstream, answers: messagesAnswer },
];

type Upstream = (typeof upstreams)[number];

function told({ translation, context }: Upstream, told_: typeof chatTranslation, { stream }: ToldTwice): unknown[] {
  const translated = new TranslatedStream({
    upstream: translation,
    upstreamContext: context,
    client: told_,
    clientContext: client,
  });
  const bytes = Buffer.from(stream.map((data) => `data: ${data}\n\n`).join(""));
  return dataOfStream(translated.see(bytes).toString() + translated.close().toString());
}

describe.skipIf(schemasAbsent).each(upstreams)("answers from $from are by the schema", (upstream) => {
  test("as chat completions and chunks", () => {
    const property = fc.property(upstream.answers, (answer) => {
      const whole = chatTranslation.writeAnswer(
        upstream.translation.readAnswer(answer.whole, upstream.context),
        client,
      );
      expect(errorsBy("openai", "CreateChatCompletionResponse", JSON.parse(whole))).toBe("");
      const chunks = told(upstream, chatTranslation, answer);
      expect(chunks.pop()).toBe("[DONE]");
      for (const chunk of chunks) expect(errorsBy("openai", "CreateChatCompletionStreamResponse", chunk)).toBe("");
    });
    fc.assert(property, { numRuns: 50 });
  });

  test("as messages and their events", () => {
    const property = fc.property(upstream.answers, (answer) => {
      const read = upstream.translation.readAnswer(answer.whole, upstream.context);
      const whole: unknown = JSON.parse(messagesTranslation.writeAnswer(read, client));
      expect(errorsBy("anthropic", "Message", whole)).toBe("");
      for (const event of told(upstream, messagesTranslation, answer)) {
        expect(errorsBy("anthropic", "MessageStreamEvent", event)).toBe("");
      }
    });
    fc.assert(property, { numRuns: 50 });
  });
});

describe.skipIf(schemasAbsent)("requests are by the schema", () => {
  /** Without the fields that are refused whatever they say, and those that no schema knows. */
  const without = (names: readonly string[]) => (body: JsonObject) =>
    Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
  const userFirst = (body: JsonObject): JsonObject => ({
    ...body,
    messages: [{ role: "user", content: "hello" }, ...(body["messages"] as JsonObject[])],
  });
  const translatable = [
    {
      to: "messages",
      bodies: chatBody.map(without(["n", "logprobs", "logit_bias"])).map(userFirst),
      reader: chatTranslation,
      writer: messagesTranslation,
      owner: "anthropic",
      schema: "CreateMessageParams",
    },
    {
      to: "chat",
      bodies: messagesBody.map(without(["container"])),
      reader: messagesTranslation,
      writer: chatTranslation,
      owner: "openai",
      schema: "CreateChatCompletionRequest",
    },
  ] as const;

  test.each(translatable)("to $to", ({ bodies, reader, writer, owner, schema }) => {
    let written = 0;
    for (const body of fc.sample(bodies, { numRuns: 300, seed: 3 })) {
      try {
        const request = writer.writeRequest(reader.readRequest(body), target);
        const text = JSON.stringify(request);
        // Stored files are newer than the schema.
        if (text.includes('"file_id"')) continue;
        expect(errorsBy(owner, schema, JSON.parse(text))).toBe("");
        written += 1;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
      }
    }
    expect(written).toBeGreaterThan(10);
  });
});

describe.skipIf(schemasAbsent)("the table of fields", () => {
  test.each([
    { translation: chatTranslation, owner: "openai", schema: "CreateChatCompletionRequest" },
    { translation: messagesTranslation, owner: "anthropic", schema: "CreateMessageParams" },
  ] as const)("of $schema names every field", ({ translation, owner, schema }) => {
    expect(fieldsBy(owner, schema).filter((field) => translation.fields[field] === undefined)).toEqual([]);
  });
});

test.skipIf(schemasAbsent)("errors are by the schema", () => {
  const failure = failureOf(new GatewayError("validation_failed", "No.", { param: "n" }));
  const inChat: unknown = JSON.parse(chatTranslation.writeFailure(failure, "req_1"));
  expect(errorsBy("openai", "ErrorResponse", inChat)).toBe("");
  const inMessages: unknown = JSON.parse(messagesTranslation.writeFailure(failure, "req_1"));
  expect(errorsBy("anthropic", "ErrorResponse", inMessages)).toBe("");
});
