import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError, type JsonObject } from "../core/index.ts";
import { errorsBy, fieldsBy } from "../../test/kit/schemas.ts";
import { chatTranslation } from "./chat/index.ts";
import { failureOf, type TranslationTarget } from "./conversation/index.ts";
import { messagesTranslation } from "./messages/index.ts";
import { responsesTranslation } from "./responses/index.ts";
import { chatAnswer, messagesAnswer, type StreamAndWhole } from "../../test/kit/dialects/arbitrary-answers.ts";
import { chatBody, messagesBody } from "../../test/kit/dialects/arbitrary-requests.ts";
import { responsesAnswer, responsesBody } from "../../test/kit/dialects/arbitrary-responses.ts";
import { chatUpstream, clientOf, messagesUpstream, responsesUpstream } from "../../test/kit/dialects/contexts.ts";
import { dataOfStream } from "../../test/kit/dialects/fold-chat.ts";
import { TranslatedStream } from "./translated-stream.ts";

// Whichever test is first at a schema compiles it, with hundreds of others that it refers to.
const client = clientOf({ stream_options: { include_usage: true } });
const responsesClient = clientOf({
  input: "hello",
  tools: [{ type: "function", name: "f" }],
  reasoning: { effort: "low" },
  text: { verbosity: "low" },
});
const target: TranslationTarget = { model: "upstream-model", origin: "somebody", developerRole: true };

const upstreams = [
  { from: "chat", translation: chatTranslation, context: chatUpstream, answers: chatAnswer },
  { from: "messages", translation: messagesTranslation, context: messagesUpstream, answers: messagesAnswer },
  { from: "responses", translation: responsesTranslation, context: responsesUpstream, answers: responsesAnswer },
];

type Upstream = (typeof upstreams)[number];

function told(
  { translation, context }: Upstream,
  told_: typeof chatTranslation,
  { stream }: StreamAndWhole,
): unknown[] {
  const translated = new TranslatedStream({
    upstream: translation,
    upstreamContext: context,
    client: told_,
    clientContext: client,
    charged: (observed) => observed?.usage ?? {},
  });
  const bytes = Buffer.from(stream.map((data) => `data: ${data}\n\n`).join(""));
  return dataOfStream(translated.see(bytes).toString() + translated.close().toString());
}

describe.each(upstreams)("answers from $from are by the schema", (upstream) => {
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

  test("as responses and their events", () => {
    const property = fc.property(upstream.answers, (answer) => {
      const read = upstream.translation.readAnswer(answer.whole, upstream.context);
      const whole: unknown = JSON.parse(responsesTranslation.writeAnswer(read, responsesClient));
      expect(errorsBy("openai", "Response", whole)).toBe("");
      const events = told(upstream, responsesTranslation, answer);
      expect(events.pop()).toBe("[DONE]");
      for (const event of events) expect(errorsBy("openai", "ResponseStreamEvent", event)).toBe("");
    });
    fc.assert(property, { numRuns: 50 });
  });
});

describe("requests are by the schema", () => {
  /** Without the fields that are always refused, and those that no schema knows. */
  const without = (names: readonly string[]) => (body: JsonObject) =>
    Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
  const userFirst = (body: JsonObject): JsonObject => ({
    ...body,
    messages: [{ role: "user", content: "hello" }, ...(body["messages"] as JsonObject[])],
  });
  const sides = [
    {
      name: "chat",
      bodies: chatBody.map(without(["n", "logprobs", "logit_bias", "stop"])).map(userFirst),
      translation: chatTranslation,
      owner: "openai",
      schema: "CreateChatCompletionRequest",
    },
    {
      name: "messages",
      bodies: messagesBody.map(without(["container", "stop_sequences"])),
      translation: messagesTranslation,
      owner: "anthropic",
      schema: "CreateMessageParams",
    },
    {
      name: "responses",
      bodies: responsesBody.map(without(["conversation", "include", "top_logprobs"])),
      translation: responsesTranslation,
      owner: "openai",
      schema: "CreateResponse",
    },
  ] as const;
  const translatable = sides.flatMap(({ name: from, bodies, translation: reader }) =>
    sides
      .filter(({ name }) => name !== from)
      .map(({ name: to, translation: writer, owner, schema }) => ({ from, to, bodies, reader, writer, owner, schema })),
  );

  test.each(translatable)("from $from to $to", ({ to, bodies, reader, writer, owner, schema }) => {
    let written = 0;
    for (const body of fc.sample(bodies, { numRuns: 300, seed: 3 })) {
      try {
        const request = writer.writeRequest(reader.readRequest(body), target);
        const text = JSON.stringify(request);
        // Stored files and sound in Responses are newer than the schemas.
        if (text.includes('"file_id"') || (to === "responses" && text.includes('"input_audio"'))) continue;
        expect(errorsBy(owner, schema, JSON.parse(text))).toBe("");
        written += 1;
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
      }
    }
    expect(written).toBeGreaterThan(10);
  });
});

describe("the table of fields", () => {
  test.each([
    { translation: chatTranslation, owner: "openai", schema: "CreateChatCompletionRequest" },
    { translation: messagesTranslation, owner: "anthropic", schema: "CreateMessageParams" },
    { translation: responsesTranslation, owner: "openai", schema: "CreateResponse" },
  ] as const)("of $schema names every field", ({ translation, owner, schema }) => {
    expect(fieldsBy(owner, schema).filter((field) => translation.fields[field] === undefined)).toEqual([]);
  });
});

test("errors are by the schema", () => {
  const failure = failureOf(new GatewayError("validation_failed", "No.", { param: "n" }));
  const inChat: unknown = JSON.parse(chatTranslation.writeFailure(failure, "req_1"));
  expect(errorsBy("openai", "ErrorResponse", inChat)).toBe("");
  const inMessages: unknown = JSON.parse(messagesTranslation.writeFailure(failure, "req_1"));
  expect(errorsBy("anthropic", "ErrorResponse", inMessages)).toBe("");
});
