/**
 * Text is stored in one place, the table of responses, and only if its caller wants it stored and the provider stores
 * nothing: on either storage, every table is searched for all text of the calls.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chatPath,
  engines,
  messagesPath,
  responseIn,
  responsesPath,
  type Rig,
  sharedPostgres,
  startRig,
  storageOn,
  tablesWith,
  type Talker,
  talker,
  until,
} from "../kit/index.ts";

const postgres = sharedPostgres();

describe.each(engines)("on %s", (engine) => {
  let rig: Rig;
  let user: Talker;

  beforeAll(async () => {
    rig = await startRig({ ...(await storageOn(engine, postgres)), config: { log: { level: "trace" } } });
    user = talker(rig.gateway.url, await rig.gateway.token({ user: "alice" }));
  });
  afterAll(() => rig.stop());

  const translated = "deepseek/deepseek-chat";
  const messages = (text: string) => [{ role: "user", content: text }];
  const ways: [string, string, (text: string) => object][] = [
    ["chat", chatPath, (text) => ({ model: translated, messages: messages(text) })],
    ["Messages", messagesPath, (text) => ({ model: translated, max_tokens: 50, messages: messages(text) })],
    [
      "native Messages",
      messagesPath,
      (text) => ({ model: "anthropic/claude-haiku-4-5", max_tokens: 50, messages: messages(text) }),
    ],
    ["native Responses", responsesPath, (text) => ({ model: "openai/gpt-4o-mini", input: text, instructions: text })],
    ["Responses that are not to be kept", responsesPath, (text) => ({ model: translated, input: text, store: false })],
    [
      "tokens that are counted",
      `${messagesPath}/count_tokens`,
      (text) => ({ model: translated, messages: messages(text) }),
    ],
  ];

  test.each(ways.map(([name, ...way], index) => [name, way, `said-in-way-${index}`] as const))(
    "nothing is kept of %s",
    async (_name, [path, body], mark) => {
      for (const stream of [false, true]) {
        const answer = await user.ask(path, { body: { ...body(`${mark} hello`), stream } });
        expect(answer.status).toBe(200);
        if (!path.endsWith("count_tokens")) expect(answer.text).toContain(mark);
      }
      expect(await tablesWith(rig.gateway.storage, mark)).toEqual([]);
    },
  );

  test("a response that we keep is in its table alone, until it is removed", async () => {
    const mark = "said-to-be-kept";
    const { id } = responseIn(await user.ask(responsesPath, { body: { model: translated, input: mark } }));
    expect(await tablesWith(rig.gateway.storage, mark)).toEqual(["responses"]);
    expect((await user.ask(`${responsesPath}/${id}`, { method: "DELETE" })).status).toBe(200);
    expect(await tablesWith(rig.gateway.storage, mark)).toEqual([]);
  });

  test("nor does the log have a word of any of it", async () => {
    const { headers } = await user.ask("/v1/last");
    const last = headers.get("x-request-id") ?? "?";
    await until("the log has been written", () => rig.gateway.log().includes(last));
    const lines = rig.gateway.log().split("\n");
    expect(lines.length).toBeGreaterThan(12);
    expect(lines.filter((line) => /said-(?:in-way|to-be)|You said/.test(line))).toEqual([]);
  });
});
