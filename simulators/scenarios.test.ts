import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { type Simulators, startSimulators } from "./index.ts";
import { asObject, type JsonObject } from "./shared/json.ts";
import { bodyOf, eventsOf, post, type Reply } from "./testing/client.ts";
import { type Ask, dialects, type Told } from "./testing/dialects.ts";
import { type Speaker, speakers } from "./testing/speakers.ts";

let simulators: Simulators;

beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const parameters = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "integer", minimum: 1 } },
  required: ["city", "days"],
};
const tools = [
  { name: "get_weather", parameters },
  { name: "get_time", parameters: { type: "object", properties: {} } },
];
const weather = { city: "sample city", days: 1 };

/** One pixel. */
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const pixelBytes = Buffer.from(pixel, "base64").length;

const named = speakers.map((speaker) => [`${speaker.provider} in ${speaker.dialect}`, speaker] as const);

describe.each(named)("%s", (_name, speaker: Speaker) => {
  const dialect = dialects[speaker.dialect];

  function send(asked: Ask, more: JsonObject = {}, fault = ""): Promise<Reply> {
    const model = asked.image === undefined ? speaker.model : (speaker.visionModel ?? speaker.model);
    const body = { ...dialect.request(model + fault, asked), ...more };
    const url = simulators.providers[speaker.provider] + speaker.path;
    return post(url, body, { "anthropic-version": "2023-06-01" });
  }

  /** Requests a whole answer and a stream, and expects equal content. */
  async function ask(asked: Ask): Promise<Told> {
    const [whole, stream] = [await send(asked), await send(asked, speaker.streamed)];
    expect([whole.status, stream.status], whole.text + stream.text).toEqual([200, 200]);
    const told = dialect.read(bodyOf(whole));
    const joined = dialect.read(dialect.join(eventsOf(stream)));
    const comparable = ({ said: _said, calls, ...rest }: Told) => ({
      ...rest,
      calls: calls.map(({ id: _id, ...call }) => call),
    });
    expect(comparable(joined)).toEqual(comparable(told));
    return told;
  }

  test("plain: quotes the user", async () => {
    const told = await ask({ text: "hello scenario" });
    expect(told).toMatchObject({ text: "You said: hello scenario. That is all I have to say.", finish: "stop" });
    expect(told.tokens).toEqual([7, 11]);
  });

  test("plain: the reminders that coding agents put before it are not the user's", async () => {
    const told = await ask({ text: "<system-reminder>\nnotes\n</system-reminder>\nhello scenario" });
    expect(told).toMatchObject({ text: "You said: hello scenario. That is all I have to say." });
  });

  test("tools: calls the first tool, then quotes its answer", async () => {
    const asked = { text: "weather?", tools };
    const called = await ask(asked);
    expect(called.calls).toMatchObject([{ name: "get_weather", arguments: weather }]);
    expect(called).toMatchObject({ text: "", finish: "tool_calls" });
    const told = await ask({ ...asked, before: { told: called, results: ["18 degrees"] } });
    expect(told).toMatchObject({ text: "The tool answered: 18 degrees", calls: [], finish: "stop" });
  });

  test.each(["parallel", "interleaved"])("%s: two calls, two answers", async (word) => {
    const asked = { text: `both ${word}`, tools };
    const called = await ask(asked);
    expect(called.calls.map(({ name, arguments: given }) => [name, given])).toEqual([
      ["get_weather", weather],
      ["get_time", {}],
    ]);
    expect(new Set(called.calls.map(({ id }) => id)).size).toBe(2);
    const told = await ask({ ...asked, before: { told: called, results: ["18 degrees", "noon"] } });
    expect(told.text).toBe("The tool answered: 18 degrees. The tool answered: noon");
  });

  test("aloud: generates text before it calls", async () => {
    const called = await ask({ text: "aloud, weather?", tools });
    expect(called).toMatchObject({ text: "Let me look that up.", calls: [{ name: "get_weather" }] });
  });

  test("steps:2 calls again after the first answer", async () => {
    const asked = { text: "weather in steps:2", tools };
    const first = await ask(asked);
    const second = await ask({ ...asked, before: { told: first, results: ["18 degrees"] } });
    expect(second.calls.map(({ name }) => name)).toEqual(["get_weather"]);
    expect(second.calls[0]?.id).not.toBe(first.calls[0]?.id ?? "");
  });

  test("call: lines lead through a loop, one call a round, whatever the client adds in between", async () => {
    const text = 'do it\ncall:get_time {}\ncall:get_weather {"city":"Bern","days":2}';
    const first = await ask({ text, tools });
    expect(first.calls).toMatchObject([{ name: "get_time", arguments: {} }]);
    const second = await ask({ text, tools, before: { told: first, results: ["noon"] } });
    expect(second.calls).toMatchObject([{ name: "get_weather", arguments: { city: "Bern", days: 2 } }]);
    // A request without the tool, such as one for a title, is answered in words.
    const untold = await ask({ text: "call:search {}", tools });
    expect([untold.calls, untold.finish]).toEqual([[], "stop"]);
  });

  test("reply: dictates the text", async () => {
    expect((await ask({ text: 'do it\nreply:"a \\"b\\"\\nc"' })).text).toBe('a "b"\nc');
  });

  test("members that nobody documents pass", async () => {
    expect((await send({ text: "hi" }, { zzz_telemetry: { a: 1 } })).status).toBe(200);
  });

  test("image in: reports type and size", async () => {
    const told = await ask({ text: "look", image: `data:image/png;base64,${pixel}` });
    expect(told.text).toContain(`I see image/png (${pixelBytes} bytes).`);
  });

  test("reasoning: thinks, and takes its thoughts back within a tool loop", async () => {
    const asked = { text: "think", tools, thinking: speaker.thinking };
    const called = await ask(asked);
    expect(called.reasoning !== "").toBe(speaker.thoughtsShown);
    const quiet = await ask({ text: "think", tools });
    expect(called.tokens[1]).toBeGreaterThan(quiet.tokens[1]);
    const told = await ask({ ...asked, before: { told: called, results: ["done"] } });
    expect(told.text).toBe("The tool answered: done");
  });

  test.skipIf(!speaker.takesSchema)("structured output fits the schema", async () => {
    // Anthropic takes no bounds.
    const days = { type: "integer", enum: [weather.days] };
    const schema = { ...parameters, properties: { ...parameters.properties, days } };
    const told = await ask({ text: "as json", schema });
    expect(JSON.parse(told.text)).toEqual(weather);
  });

  test.skipIf(!speaker.takesStop)("a stop sequence ends the text", async () => {
    const told = await ask({ text: "one two three", stop: "two" });
    expect(told).toMatchObject({ text: "You said: one", finish: "stop" });
  });

  test("the token limit cuts", async () => {
    const told = await ask({ text: "words:50", tokensMax: 16 });
    expect(told.text.split(" ")).toHaveLength(16);
    expect([told.finish, told.tokens[1]]).toEqual(["length", 16]);
  });

  test("refuse:CATEGORY declines", async () => {
    const told = await ask({ text: "refuse:bio please" });
    expect(told.finish).toBe(speaker.refusalFinish);
    expect(told.text.startsWith("I can't help with this: refuse:bio please")).toBe(speaker.refusalText);
    expect(told.tokens[1]).toBe(7);
  });

  test("status-N is an error in the dialect's shape, in whole answers and streams", async () => {
    for (const more of [{}, speaker.streamed]) {
      const reply = await send({ text: "hi" }, more, "+status-503");
      expect(reply.status).toBe(503);
      expect(Object.keys(asObject(bodyOf({ text: reply.text.replace(/^\[|\]$/g, "") }))).length).toBeGreaterThan(0);
    }
  });

  test("error-N is the dialect's error event, and nothing after it", async () => {
    const reply = await send({ text: "words:9" }, speaker.streamed, "+error-3");
    const events = eventsOf(reply);
    expect(events).toHaveLength(4);
    const { event, data } = events[3] ?? {};
    expect(event).toBe(speaker.dialect === "chat" ? null : "error");
    expect(JSON.stringify(data)).toMatch(/"(message|error)":/);
    expect(reply.text).not.toContain("[DONE]");
  });

  test("no-usage reports no usage", async () => {
    for (const more of [{}, speaker.streamed]) {
      const reply = await send({ text: "hi" }, more, "+no-usage");
      expect(reply.text).not.toContain('_tokens":1');
      expect(reply.text).not.toContain('"usage":{');
    }
  });

  test("crlf, malformed and huge spoil this dialect's events too", async () => {
    const lines = await send({ text: "words:9" }, speaker.streamed, "+crlf");
    expect(lines.text.replaceAll("\r\n", "")).not.toContain("\n");
    const broken = eventsOf(await send({ text: "words:9" }, speaker.streamed, "+malformed"));
    expect(broken.map(({ data }) => data === undefined).indexOf(true)).toBe(1);
    const huge = await send({ text: "hi" }, speaker.streamed, "+huge-1");
    expect(eventsOf(huge).some(({ data }) => JSON.stringify(data ?? "").length > 1_048_576)).toBe(true);
  });

  test("the same request gets the same bytes", async () => {
    const twice = [
      await send({ text: "again", tools }, speaker.streamed),
      await send({ text: "again", tools }, speaker.streamed),
    ];
    expect(twice[0]?.text).toBe(twice[1]?.text ?? "");
  });
});
