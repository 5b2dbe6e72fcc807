import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { chatPath, expectRefusal, until } from "../kit/index.ts";
import { openLedgerStore } from "../../src/ledger/index.ts";
import { goodMessages, goodModel, type Hardened, startHardened } from "./hardened.ts";

const MIB = 1024 * 1024;
const invalid = { status: 422, code: "validation_failed" } as const;

let gateway: Hardened;
beforeAll(async () => {
  gateway = await startHardened();
});
afterEach(() => gateway.expectUnharmed());
afterAll(() => gateway.rig.stop());

describe("invalid JSON, or JSON that is not an object", () => {
  test.each<[string, string | Uint8Array, string]>([
    ["nothing", "", "must be a JSON object"],
    ["white space", " \r\n\t ", "must be a JSON object"],
    ["null", "null", "must be a JSON object"],
    ["a list", `[{${goodModel},${goodMessages}}]`, "must be a JSON object"],
    ["a text", '"hello"', "must be a JSON object"],
    ["a number", "42", "must be a JSON object"],
    ["a form", "model=openai%2Fgpt-4o-mini", "must be a JSON object"],
    ["half an object", `{${goodModel},"messages":[{"role":"us`, "not valid JSON"],
    ["an object and more", `{${goodModel},${goodMessages}} {}`, "not valid JSON"],
    ["a comma too many", `{${goodModel},${goodMessages},}`, "not valid JSON"],
    ["single quotes", `{'model':'openai/gpt-4o-mini'}`, "not valid JSON"],
    ["NaN", `{${goodModel},${goodMessages},"temperature":NaN}`, "not valid JSON"],
    ["a raw NUL in the model", `{"model":"openai/gpt\u0000",${goodMessages}}`, "not valid JSON"],
    ["UTF-16", Buffer.from(`{${goodModel},${goodMessages}}`, "utf16le"), "not valid JSON"],
    ["Latin-1", Buffer.from(`{${goodModel},"messages":[{"role":"user","content":"é"}]}`, "latin1"), "not valid UTF-8"],
    ["a cut UTF-8 character", Buffer.from(`{${goodModel},"x":"é"}`).subarray(0, -3), "not valid UTF-8"],
    [
      "an encoded surrogate",
      Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xed, 0xa0, 0x80]), Buffer.from('"}')]),
      "not valid UTF-8",
    ],
    [
      "an overlong slash",
      Buffer.concat([Buffer.from('{"x":"'), Buffer.from([0xc0, 0xaf]), Buffer.from('"}')]),
      "not valid UTF-8",
    ],
  ])("%s", async (_, body, message) => {
    await gateway.expectRefused(body, { ...invalid, message });
  });

  test("a byte order mark is dropped, as RFC 8259 allows, and does not reach the upstream", async () => {
    const before = gateway.rig.simulators.total();
    const { answer } = await gateway.post(
      Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(`{${goodModel},${goodMessages}}`)]),
    );
    expect(answer.status).toBe(200);
    expect(gateway.rig.simulators.total()).toBe(before + 1);
    expect(gateway.rig.simulators.requests().at(-1)?.body).toStartWith(`{"model":"gpt-4o-mini",${goodMessages}`);
  });
});

describe("depth and size", () => {
  const deep = 100_000;

  test.each<[string, string]>([
    ["brackets", `{${goodModel},${goodMessages},"x":${"[".repeat(deep)}${"]".repeat(deep)}}`],
    ["brackets that never close", `{${goodModel},${goodMessages},"x":${"[".repeat(deep)}`],
    ["objects", `${'{"x":'.repeat(deep)}1${"}".repeat(deep)}`],
    [
      "brackets within a message",
      `{${goodModel},"messages":[{"role":"user","content":${"[".repeat(deep)}${"]".repeat(deep)}}]}`,
    ],
  ])("100,000 nested %s", async (_, body) => {
    await gateway.expectRefused(body, { ...invalid, message: "nests more than" });
  });

  test("100,000 nested brackets in place of the object", async () => {
    await gateway.expectRefused("[".repeat(deep) + "]".repeat(deep), { ...invalid, message: "must be a JSON object" });
  });

  test("a 10 MB model", async () => {
    const message = await gateway.expectRefused(`{"model":"openai/${"a".repeat(10 * MIB)}",${goodMessages}}`, {
      ...invalid,
      param: "model",
    });
    expect(message.length).toBeLessThan(200);
  });

  test("a 10 MB key, twice", async () => {
    const key = "k".repeat(5 * MIB);
    const message = await gateway.expectRefused(`{${goodModel},"${key}":1,"${key}":2}`, {
      ...invalid,
      param: "k".repeat(80),
    });
    expect(message.length).toBeLessThan(200);
  });

  test("as many members as a body may have, of which two are alike", async () => {
    const members = Array.from({ length: 1_023 }, (_, index) => `"k${index}":0`).join(",");
    await gateway.expectRefused(`{${members},"k7":1}`, { ...invalid, param: "k7", message: "twice" });
  });

  test("a million members", async () => {
    const members = Array.from({ length: 1_000_000 }, (_, index) => `"k${index}":0`).join(",");
    await gateway.expectRefused(`{${members}}`, { ...invalid, message: "1024 keys" });
  });

  test("millions of values", async () => {
    const body = `{"model":"openai/gpt-5-mini","messages":[${"[],".repeat(5_000_000)}[]]}`;
    await gateway.expectRefused(body, { ...invalid, message: "400000 values" });
  });

  test.each(["Model", "MESSAGES", "maX_tokens", "\u017ftream"])("%s, which differs only in case", async (key) => {
    const body = { model: "openai/gpt-5-mini", messages: [{ role: "user", content: "hi" }], [key]: "expensive" };
    await gateway.expectRefused(JSON.stringify(body), { ...invalid, param: key, message: "only in case" });
  });

  test("a path of 9,000 characters is not repeated", async () => {
    const answer = await fetch(`${gateway.rig.gateway.url}/v1/${"a".repeat(9_000)}`);
    const message = expectRefusal(answer, await answer.text(), { status: 404, code: "route_not_found" });
    expect(message.length).toBeLessThan(300);
  });
});

describe("the model", () => {
  test.each<[string, string]>([
    ["a NUL", String.raw`openai/gpt\u0000`],
    ["a line break", String.raw`openai/gpt\r\nx-evil: 1`],
    ["an escape character", String.raw`openai/\u001b[31mred`],
    ["DEL", String.raw`openai/gpt\u007f`],
    ["a C1 control character", String.raw`openai/gpt\u0085`],
    ["half of a surrogate pair", String.raw`openai/gpt\ud800`],
    ["the other half", String.raw`openai/\udc00gpt`],
  ])("with %s", async (_, id) => {
    await gateway.expectRefused(`{"model":"${id}",${goodMessages}}`, {
      ...invalid,
      param: "model",
      message: "no control characters",
    });
  });

  test.each<[string, string]>([
    ["null", "null"],
    ["a number", "5"],
    ["a list", '["openai/gpt-4o-mini"]'],
    ["an object", '{"toString":"openai/gpt-4o-mini"}'],
    ["nothing", '""'],
    ["257 characters", `"openai/${"a".repeat(250)}"`],
  ])("as %s", async (_, value) => {
    await gateway.expectRefused(`{"model":${value},${goodMessages}}`, { ...invalid, param: "model" });
  });

  test.each([
    "../openai/x",
    "/openai/x",
    "openai",
    "openai/",
    "/",
    ".",
    "..",
    "__proto__/x",
    "constructor/x",
    "toString/x",
    "OPENAI/x",
    " openai/x",
  ])("%p leads nowhere", async (id) => {
    await gateway.expectRefused(JSON.stringify({ model: id, messages: [{ role: "user", content: "hi" }] }), {
      status: 404,
      code: "model_not_routed",
      param: "model",
    });
  });

  test.each([
    "openai/../x",
    "openai/..%2fx",
    "openai/%2e%2e/models",
    "openai//x",
    "openai/x?y=1#z",
    String.raw`openai/..\x`,
    "openai/__proto__",
  ])("%p never becomes a path or a host", async (id) => {
    await gateway.post(JSON.stringify({ model: id, messages: [{ role: "user", content: "hi" }] }));
    await gateway.caller.closed();
    const received = gateway.rig.simulators.requests().at(-1);
    expect(received).toMatchObject({ provider: "openai", method: "POST", path: "/openai/v1/chat/completions" });
    expect(JSON.parse(received?.body ?? "")).toHaveProperty("model", id.slice("openai/".length));
  });
});

describe("keys that occur twice", () => {
  test.each<[string, string, string]>([
    ["model", `{${goodModel},"model":"openai/gpt-5",${goodMessages}}`, "model"],
    [
      "model, once escaped",
      String.raw`{"model":"openai/gpt-4o-mini","mod\u0065l":"openai/gpt-5",${goodMessages}}`,
      "model",
    ],
    [
      "model, all escaped",
      String.raw`{"\u006d\u006f\u0064\u0065\u006c":"openai/a","\u006Dodel":"openai/b",${goodMessages}}`,
      "model",
    ],
    ["max_tokens", `{${goodModel},"max_tokens":1,${goodMessages},"max_tokens":100000}`, "max_tokens"],
    ["stream", `{${goodModel},"stream":true,${goodMessages},"stream":false}`, "stream"],
    ["an unknown key", `{${goodModel},"x":1,${goodMessages},"x":1}`, "x"],
    ["__proto__", `{${goodModel},"__proto__":1,${goodMessages},"__proto__":{}}`, "__proto__"],
  ])("%s", async (_, body, param) => {
    await gateway.expectRefused(body, { ...invalid, param, message: "twice" });
  });

  test("a model with an escaped key is the model, for us and for the upstream", async () => {
    const { answer } = await gateway.post(String.raw`{"mod\u0065l":"openai/gpt-4o-mini",${goodMessages}}`);
    expect(answer.status).toBe(200);
    expect(JSON.parse(gateway.rig.simulators.requests().at(-1)?.body ?? "")).toHaveProperty("model", "gpt-4o-mini");
  });
});

describe("keys with a meaning in JavaScript", () => {
  test("a body within __proto__ is no body", async () => {
    await gateway.expectRefused(`{"__proto__":{${goodModel},${goodMessages}}}`, { ...invalid, param: "model" });
    await gateway.expectRefused(`{${goodModel},"messages":[{"__proto__":{"role":"user","content":"hi"}}]}`, {
      ...invalid,
      param: "messages.0.role",
    });
    await gateway.expectRefused(`{${goodModel},${goodMessages},"stream_options":{"__proto__":null},"max_tokens":0}`, {
      ...invalid,
      param: "max_tokens",
    });
  });

  test("limits within __proto__ are no limits", async () => {
    // Taken for 1 output token this call would be affordable.
    const poor = await gateway.rig.gateway.token({ user: "poor", credits: 100_000n });
    const ask = (body: string) =>
      fetch(gateway.rig.gateway.url + chatPath, { method: "POST", headers: { authorization: `Bearer ${poor}` }, body });
    expect((await ask(`{${goodModel},${goodMessages},"max_tokens":1}`)).status).toBe(200);
    const before = gateway.rig.simulators.total();
    const answer = await ask(`{"__proto__":{"max_tokens":1,"max_completion_tokens":1},${goodModel},${goodMessages}}`);
    expect(answer.status).toBe(402);
    expect(gateway.rig.simulators.total()).toBe(before);
  });

  test.each(["__proto__", "constructor", "toString", "valueOf", "hasOwnProperty"])(
    "a part of type %p is a part like any other",
    async (type) => {
      const sent = { model: "openai/gpt-4o-mini", messages: [{ role: "user", content: [{ type }] }] };
      const { answer } = await gateway.post(JSON.stringify(sent));
      expect(answer.status).toBe(200);
      expect(JSON.parse(gateway.rig.simulators.requests().at(-1)?.body ?? "")).toEqual({
        ...sent,
        model: "gpt-4o-mini",
        max_completion_tokens: 16_384,
      });
    },
  );

  test("other callers' requests are as they were", async () => {
    await gateway.post(
      `{"__proto__":{"stream":true},"constructor":{"prototype":{"stream":true}},${goodModel},${goodMessages}}`,
    );
    const { answer } = await gateway.post(`{${goodModel},${goodMessages}}`);
    expect(answer.headers.get("content-type")).toStartWith("application/json");
  });
});

describe("absurd numbers", () => {
  test.each([
    "1e308",
    "1e999",
    "-1",
    "0",
    "1.5",
    '"5"',
    "true",
    "[1]",
    "9007199254740993",
    "123456789012345678901234567890",
  ])("max_tokens %s", async (value) => {
    await gateway.expectRefused(`{${goodModel},${goodMessages},"max_tokens":${value}}`, {
      ...invalid,
      param: "max_tokens",
    });
    await gateway.expectRefused(`{${goodModel},${goodMessages},"max_completion_tokens":${value}}`, {
      ...invalid,
      param: "max_completion_tokens",
    });
  });

  test.each(["1e9", "129", "-1", "0", "0.5", '"1"'])("n %s", async (value) => {
    await gateway.expectRefused(`{${goodModel},${goodMessages},"n":${value}}`, { ...invalid, param: "n" });
  });

  test("a bound beyond all money is lowered to what there is, and takes no neighbour's call along", async () => {
    const greedy = {
      model: "openai/unlisted",
      messages: [{ role: "user", content: "hi" }],
      max_tokens: Number.MAX_SAFE_INTEGER,
    };
    const modest = { model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "hi" }], max_tokens: 5 };
    const callers = await Promise.all([gateway.rig.caller(), gateway.rig.caller(), gateway.rig.caller()]);
    const answers = await Promise.all(callers.map((one, index) => one.chat(index === 1 ? greedy : modest)));
    // Not the money refuses it, but the upstream, which knows no such limit.
    expect(answers.map(({ status }) => status)).toEqual([200, 400, 200]);
    expect(answers[1]?.headers.get("x-tollgate-max-output-tokens")).toMatch(/^\d{4,12}$/);
    await Promise.all(callers.map((one) => one.closed()));
  });

  test("nor does one of a service, which has no balance to stop it", async () => {
    const token = await gateway.rig.gateway.token({ user: "service", service: true, credits: undefined });
    const body = `{"model":"openai/unlisted",${goodMessages},"max_tokens":${Number.MAX_SAFE_INTEGER},"n":128}`;
    const ask = () =>
      fetch(gateway.rig.gateway.url + chatPath, {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body,
      });
    const answers = await Promise.all(Array.from({ length: 20 }, ask));
    // The upstream's own refusal: the gateway let them through.
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 400));
    await until(
      "their holds have ended",
      async () => (await openLedgerStore(gateway.rig.gateway.storage).openHolds()).length === 0,
    );
  });
});
test("after all of it the books balance and nothing failed within", () => gateway.expectNoFailure());
