/** Conversations that go on by `previous_response_id`, with every provider and across them, on either storage. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  endOf,
  engines,
  query,
  responseIn,
  responsesPath,
  type Rig,
  sharedPostgres,
  startRig,
  storageOn,
  type Talker,
  talker,
  textIn,
  type ReceivedAnswer,
  type ReceivedResponse,
} from "../kit/index.ts";

/** Providers that get the conversation from us, and those that store it. */
const translated = ["deepseek/deepseek-chat", "google/gemini-2.5-flash", "mistral/mistral-small-latest"] as const;
const natives = ["openai/gpt-4o-mini", "xai/grok-4.3", "byteplus/seed-1-8-251228"] as const;
const claude = "anthropic/claude-haiku-4-5";

const postgres = sharedPostgres();

describe.each(engines)("on %s", (engine) => {
  let rig: Rig;
  let user: Talker;

  beforeAll(async () => {
    rig = await startRig(await storageOn(engine, postgres));
    user = talker(rig.gateway.url, await rig.gateway.token({ user: "alice" }));
  });
  afterEach(() => rig.expectBalancedBooks());
  afterAll(() => rig.stop());

  const respond = async (body: object): Promise<ReceivedResponse> =>
    responseIn(await user.ask(responsesPath, { body }));
  const get = (id: string, more = ""): Promise<ReceivedAnswer> => user.ask(`${responsesPath}/${id}${more}`);

  /** The body that an upstream got last. */
  const sentLast = (): Record<string, unknown> =>
    JSON.parse(rig.simulators.requests().at(-1)?.body ?? "{}") as Record<string, unknown>;

  /** Input items in short, oldest first. */
  async function inputOf(id: string): Promise<string[]> {
    const { status, json, text } = await get(id, "/input_items?order=asc&limit=100");
    if (status !== 200) throw new Error(text);
    const { data } = json as { data: { role?: string; content: { text: string }[] }[] };
    // Thoughts have no role.
    return data.flatMap(({ role, content }) => (role === undefined ? [] : [`${role}: ${content[0]?.text}`]));
  }

  test.each([...translated, claude])("%s gets all earlier rounds, the oldest first", async (model) => {
    const first = await respond({ model, input: "one" });
    const second = await respond({ model, input: "two", previous_response_id: first.id, instructions: "Be brief." });
    const third = await respond({
      model,
      input: [{ role: "user", content: "three" }],
      previous_response_id: second.id,
    });
    expect([second.previous_response_id, third.previous_response_id]).toEqual([first.id, second.id]);
    expect(textIn(third)).toContain("You said: three");
    type Sent = { role?: string; content: unknown }[];
    // DeepSeek's Responses store nothing either.
    const { messages, input } = sentLast() as { messages?: Sent; input?: Sent };
    const turns = (messages ?? input ?? []).filter(({ role }) => role !== undefined);
    const said = turns.map(({ role, content }) => `${role}: ${JSON.stringify(content)}`);
    expect(said).toHaveLength(5);
    // The instructions of a round are not the next one's.
    expect(said.join("\n")).not.toContain("Be brief.");
    for (const [index, part] of ["one", "You said: one", "two", "You said: two", "three"].entries()) {
      expect(said[index]).toStartWith(index % 2 === 0 ? "user: " : "assistant: ");
      expect(said[index]).toContain(part);
    }
    expect(await inputOf(third.id)).toEqual([
      "user: one",
      `assistant: ${textIn(first)}`,
      "user: two",
      `assistant: ${textIn(second)}`,
      "user: three",
    ]);
    for (const made of [first, second, third]) expect((await get(made.id)).json).toEqual(made);
  });

  test.each(natives)("%s continues by its own id, and returns its stored items", async (model) => {
    const first = await respond({ model, input: "one" });
    const second = await respond({ model, input: "two", previous_response_id: first.id });
    expect(sentLast()).toMatchObject({ previous_response_id: first.id, input: "two" });
    expect(responseIn(await get(second.id)).output).toEqual(second.output);
    if (model !== natives[1])
      expect(await inputOf(second.id)).toEqual(["user: one", `assistant: ${textIn(first)}`, "user: two"]);
    else expect((await get(second.id, "/input_items")).status).toBe(404);
    const deleted = await user.ask(`${responsesPath}/${second.id}`, { method: "DELETE" });
    expect(deleted.json).toEqual({ id: second.id, object: "response", deleted: true });
    expect((await get(second.id)).status).toBe(404);
    expect((await get(first.id)).status).toBe(200);
  });

  test("a conversation that we keep may go on with any provider, and back", async () => {
    let previous = await respond({ model: "deepseek/deepseek-reasoner", input: "one", reasoning: { effort: "high" } });
    const models = [claude, "openai/gpt-5-mini", "xai/grok-4.3", "google/gemini-2.5-flash"];
    for (const [index, model] of models.entries()) {
      // The thoughts of another provider are included as sealed data, so the gateway stores the answer.
      previous = await respond({ model, input: `round ${index}`, previous_response_id: previous.id });
      expect(textIn(previous)).toContain(`You said: round ${index}`);
      expect((await get(previous.id)).json).toEqual(previous);
    }
    expect((await inputOf(previous.id)).filter((item) => item.startsWith("user"))).toHaveLength(5);
  });

  test("one that the provider keeps goes on there behind a response with tools of the gateway", async () => {
    const first = await respond({ model: natives[0], input: "one" });
    const tools = [{ type: "mcp", server_label: "tollgate", require_approval: "never" }];
    const second = await respond({ model: natives[0], input: "two", previous_response_id: first.id, tools });
    const third = await respond({ model: natives[0], input: "three", previous_response_id: second.id });
    expect(textIn(third)).toContain("You said: three");
    const sent = sentLast();
    expect(sent["previous_response_id"]).toBe(first.id);
    expect(JSON.stringify(sent["input"])).toContain('"two"');
    const fourth = await respond({ model: natives[0], input: "four", previous_response_id: third.id });
    expect(textIn(fourth)).toContain("You said: four");
  });

  test("a response of another provider may not: the error names the provider", async () => {
    const first = await respond({ model: natives[0], input: "one" });
    for (const model of [natives[1], claude, translated[0]]) {
      const body = { model, input: "two", previous_response_id: first.id };
      const { status, json } = await user.ask(responsesPath, { body });
      expect([status, json]).toEqual([
        422,
        {
          error: {
            message:
              "previous_response_id: the conversation is kept by the provider openai and can only be continued there.",
            type: "invalid_request_error",
            code: "validation_failed",
            param: "previous_response_id",
          },
        },
      ]);
    }
  });

  test("calls and results of tools are known in the next round", async () => {
    const tools = [
      {
        type: "function",
        name: "look",
        parameters: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
      },
    ];
    for (const model of [translated[0], claude, natives[0]]) {
      const first = await respond({ model, input: "what is there?", tools });
      const call = first.output.find(({ type }) => type === "function_call") as { call_id?: string } | undefined;
      const input = [{ type: "function_call_output", call_id: call?.call_id, output: "a fish" }];
      const second = await respond({ model, input, tools, previous_response_id: first.id });
      expect(textIn(second)).toContain("The tool answered: a fish");
    }
  });

  test.each([...natives, translated[0], claude])(
    "%s: who asks for a response as soon as its stream ends always finds it",
    async (model) => {
      let previous: string | undefined;
      for (let round = 0; round < 50; round += 1) {
        // Conversations of three rounds.
        const more = round % 3 === 0 || previous === undefined ? {} : { previous_response_id: previous };
        const body = { model, input: `round ${round}`, stream: true, ...more };
        const { response, reader } = await endOf(await user.send(responsesPath, { body }));
        const found = await get(response.id);
        expect([round, found.status, responseIn(found).output]).toEqual([round, 200, response.output]);
        expect(await reader.rest()).toBe("data: [DONE]\n\n");
        previous = response.id;
      }
    },
    30_000,
  );

  test.each([natives[0], translated[0], claude])(
    "%s: a response that must not be stored is not found",
    async (model) => {
      for (const stream of [true, false]) {
        const body = { model, input: "nothing-to-keep", store: false, stream };
        const { id } = stream ? (await endOf(await user.send(responsesPath, { body }))).response : await respond(body);
        for (const more of ["", "/input_items"]) expect((await get(id, more)).status).toBe(404);
        const next = await user.ask(responsesPath, { body: { model, input: "x", previous_response_id: id } });
        expect([next.status, next.text]).toEqual([
          404,
          expect.stringContaining('"param":"previous_response_id"') as string,
        ]);
      }
      const rows = await query<{ input: string }>(
        rig.gateway.storage,
        "SELECT * FROM responses WHERE input LIKE '%nothing-to-keep%'",
      );
      expect(rows).toEqual([]);
    },
  );

  test("one that is cut off by its limit is stored as well", async () => {
    const body = { model: translated[0], input: "words:200", max_output_tokens: 20 };
    const cut = await respond(body);
    expect(cut.status).toBe("incomplete");
    expect((await get(cut.id)).json).toEqual(cut);
    const { response } = await endOf(await user.send(responsesPath, { body: { ...body, stream: true } }));
    expect(responseIn(await get(response.id))).toEqual(response);
  });

  test("of a call that failed or broke off there is nothing", async () => {
    const before = await query(rig.gateway.storage, "SELECT id FROM responses");
    for (const fault of ["status-400", "error-200", "cut-3", "error-3", "truncate", "malformed"]) {
      for (const model of [natives[0], translated[0], claude]) {
        for (const stream of [true, false]) {
          if (!stream && ["cut-3", "error-3"].includes(fault)) continue;
          if (stream && fault === "truncate") continue;
          // A native stream passes as it is, to its end.
          if (stream && fault === "malformed" && model === natives[0]) continue;
          await user.ask(responsesPath, { body: { model: `${model}+${fault}`, input: "x", stream } });
        }
      }
    }
    await user.ask(responsesPath, { body: { model: `${natives[0]}+failed`, input: "x", stream: true } });
    expect(await query(rig.gateway.storage, "SELECT id FROM responses")).toEqual(before);
  });
});
