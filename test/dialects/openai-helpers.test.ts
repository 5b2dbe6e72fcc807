/** The helpers of OpenAI's SDK: gathered streams, tool loops, parsed answers; native and translated alike. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import OpenAI from "openai";
import { zodFunction, zodResponseFormat, zodResponsesFunction, zodTextFormat } from "openai/helpers/zod";
import type { ResponseInputItem } from "openai/resources/responses/responses";
import { z } from "zod";
import { type Rig, startRig } from "../kit/index.ts";
import { messagesOnly } from "./messages-only.ts";

let rig: Rig;
let client: OpenAI;
beforeAll(async () => {
  rig = await startRig({ config: { upstream: { retries: 0 } }, providers: messagesOnly });
  const { token } = await rig.caller();
  client = new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: token, maxRetries: 0 });
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const place = z.object({ city: z.string(), days: z.number().int().min(1) });
const parsedPlace = { city: "sample city", days: 1 };

/** Native Responses, through chat, and through Messages. */
const models = ["openai/gpt-5-mini", "google/gemini-2.5-flash", "native/claude-haiku-4-5"];

type Responded = OpenAI.Responses.Response;

function resultsOf({ output }: Pick<Responded, "output">): ResponseInputItem[] {
  return output.flatMap((item) =>
    item.type === "function_call"
      ? [{ type: "function_call_output", call_id: item.call_id, output: "18 degrees" }]
      : [],
  );
}

describe.each(models)("Responses of %s", (model) => {
  const tools = [zodResponsesFunction({ name: "get_weather", parameters: place })];

  test.concurrent("the stream helper collects the content of a whole answer, with its events in order", async () => {
    const asked = { model, tools, input: "parallel aloud" };
    const types: string[] = [];
    let said = "";
    const stream = client.responses.stream(asked);
    stream.on("event", ({ type, sequence_number: number }) => {
      expect(number).toBe(types.push(type) - 1);
    });
    stream.on("response.output_text.delta", ({ delta, snapshot }) => {
      said += delta;
      expect(snapshot).toBe(said);
    });
    const gathered = await stream.finalResponse();
    expect(types.slice(0, 2)).toEqual(["response.created", "response.in_progress"]);
    expect(types.at(-1)).toBe("response.completed");
    expect(types.filter((type) => type === "response.output_item.done")).toHaveLength(gathered.output.length);
    expect(gathered.output_text).toBe("Let me look that up.");
    const whole = await client.responses.create(asked);
    expect(gathered.output.map(({ type }) => type)).toEqual(whole.output.map(({ type }) => type));
    expect(gathered.usage).toEqual(whole.usage);
  });

  test.concurrent("a tool loop with stored responses, and with repeated items", async () => {
    const called = await client.responses.create({ model, tools, input: "weather in steps:2" });
    const again = await client.responses.create({
      model,
      tools,
      previous_response_id: called.id,
      input: resultsOf(called),
    });
    expect(again.output.map(({ type }) => type)).toContain("function_call");
    const last = await client.responses.create({
      model,
      tools,
      previous_response_id: again.id,
      input: resultsOf(again),
    });
    expect(last.output_text).toBe("The tool answered: 18 degrees");
    const asked: ResponseInputItem = { role: "user", content: "weather?" };
    const first = await client.responses.create({ model, tools, input: [asked], store: false });
    const input = [asked, ...(first.output as ResponseInputItem[]), ...resultsOf(first)];
    const told = await client.responses.create({ model, tools, input, store: false });
    expect(told.output_text).toBe("The tool answered: 18 degrees");
  });

  test.concurrent("parse: the answer by a schema, the arguments by another", async () => {
    const format = zodTextFormat(place, "place");
    const answered = await client.responses.parse({ model, input: "Where?", text: { format } });
    expect(answered.output_parsed).toEqual(parsedPlace);
    const called = await client.responses.parse({ model, tools, input: "Weather?" });
    expect(called.output.find(({ type }) => type === "function_call")).toMatchObject({
      name: "get_weather",
      parsed_arguments: parsedPlace,
    });
  });

  test.concurrent("looked up, listed, deleted", async () => {
    const { id, output_text: text } = await client.responses.create({ model, input: "Keep this." });
    expect((await client.responses.retrieve(id)).output_text).toBe(text);
    const items: unknown[] = [];
    for await (const item of client.responses.inputItems.list(id)) items.push(item);
    expect(items).toMatchObject([{ type: "message", role: "user" }]);
    await client.responses.delete(id);
    const gone: unknown = await client.responses.retrieve(id).catch((reason: unknown) => reason);
    expect(gone).toBeInstanceOf(OpenAI.NotFoundError);
  });
});

describe("items by their ids", () => {
  const model = "google/gemini-2.5-flash";
  const tools = [zodResponsesFunction({ name: "get_weather", parameters: place })];
  const reference = (id: string | undefined): ResponseInputItem => ({ type: "item_reference", id: id ?? "" });

  test.concurrent("are found in the gateway's store, and stored again with the items that refer to them", async () => {
    const called = await client.responses.create({ model, tools, input: "weather aloud" });
    const references = called.output.map(({ id }) => reference(id));
    const user: ResponseInputItem = { role: "user", content: "weather aloud" };
    const input = [user, ...references, ...resultsOf(called)];
    const told = await client.responses.create({ model, tools, input });
    expect(told.output_text).toBe("The tool answered: 18 degrees");
    const types: (string | undefined)[] = [];
    for await (const item of client.responses.inputItems.list(told.id, { order: "asc" })) types.push(item.type);
    // The thought carries the signature of Google's call.
    expect(types).toEqual(["message", "message", "reasoning", "function_call", "function_call_output"]);
    // With other providers the same conversation continues as well.
    const other = { model: "openai/gpt-5-mini", previous_response_id: told.id, input: "And now?" };
    expect((await client.responses.create(other)).output_text).toContain("And now?");
  });

  test.concurrent("another user's are not found, and neither are those that were never kept", async () => {
    const said = await client.responses.create({ model, input: "Mine alone." });
    const unkept = await client.responses.create({ model, input: "Not kept.", store: false });
    const { token } = await rig.caller();
    const stranger = new OpenAI({ baseURL: `${rig.gateway.url}/v1`, apiKey: token, maxRetries: 0 });
    const refused = async (asker: OpenAI, id: string | undefined): Promise<unknown> => {
      const input = [reference(id), { role: "user" as const, content: "What was that?" }];
      return asker.responses.create({ model, input }).catch((reason: unknown) => reason);
    };
    const refusal = { status: 422, code: "validation_failed", param: expect.stringContaining("input.0") as string };
    expect(await refused(stranger, said.output[0]?.id)).toMatchObject(refusal);
    expect(await refused(client, unkept.output[0]?.id)).toMatchObject(refusal);
    expect(await refused(client, "msg_none")).toMatchObject(refusal);
    expect(await refused(client, said.output[0]?.id)).toHaveProperty("status", "completed");
  });
});

describe.each(["openai/gpt-4o-mini", "native/claude-haiku-4-5"])("chat of %s", (model) => {
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: "user", content: "Where? steps:2" }];

  test.concurrent("parse: the answer by a schema, the arguments by another", async () => {
    const format = zodResponseFormat(place, "place");
    const answered = await client.chat.completions.parse({ model, messages, response_format: format });
    expect(answered.choices[0]?.message.parsed).toEqual(parsedPlace);
    const tools = [zodFunction({ name: "get_weather", parameters: place })];
    const called = await client.chat.completions.parse({ model, messages, tools });
    expect(called.choices[0]?.message.tool_calls?.[0]?.function.parsed_arguments).toEqual(parsedPlace);
  });

  test.concurrent.each([false, true])("runTools goes through the loop; streamed: %p", async (stream) => {
    const cities: string[] = [];
    const tool = zodFunction({
      name: "get_weather",
      parameters: place,
      function: ({ city }) => {
        cities.push(city);
        return "18 degrees";
      },
    });
    const asked = { model, messages, tools: [tool] };
    const runner = stream
      ? client.chat.completions.runTools({ ...asked, stream: true })
      : client.chat.completions.runTools(asked);
    expect(await runner.finalContent()).toBe("The tool answered: 18 degrees");
    expect(cities).toEqual(["sample city", "sample city"]);
  });
});
