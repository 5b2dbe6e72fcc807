/** Where client and provider speak the same dialect, bytes pass: the request's but for the model's prefix, the answer's whole. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Rig, simulatedKey, startRig } from "../kit/index.ts";

let rig: Rig;
let token: string;
beforeAll(async () => {
  rig = await startRig({ config: { upstream: { retries: 0 } } });
  ({ token } = await rig.caller());
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

interface Native {
  prefix: string;
  provider: "anthropic" | "openai" | "xai" | "byteplus";
  /** At the gateway, and behind the provider's base URL. */
  path: string;
  upstreamPath: string;
  model: string;
  /** Members that the gateway knows nothing of, among others. */
  asked: Record<string, unknown>;
  /** A stream's last event is the gateway's own, by the contract. */
  endsWithDone: boolean;
}

const odd = '"Grüße \\u00e9 \\ud83d\\ude00 \\/ words"';

const messages = {
  provider: "anthropic",
  path: "/v1/messages",
  upstreamPath: "/v1/messages",
  model: "claude-haiku-4-5",
  asked: { max_tokens: 9_000, thinking: { type: "enabled", budget_tokens: 2_000 }, inference_geo: "global" },
  endsWithDone: false,
} as const;
const responses = {
  path: "/v1/responses",
  upstreamPath: "/responses",
  asked: { metadata: {}, max_output_tokens: 5_000 },
  endsWithDone: true,
};

const natives: Native[] = [
  { ...messages, prefix: "anthropic" },
  { ...messages, prefix: "claude" },
  {
    ...responses,
    prefix: "openai",
    provider: "openai",
    model: "gpt-5-mini",
    asked: { reasoning: { summary: "auto" }, max_output_tokens: 5_000 },
  },
  { ...responses, prefix: "xai", provider: "xai", model: "grok-4.3" },
  {
    ...responses,
    prefix: "byteplus",
    provider: "byteplus",
    model: "seed-1-6-250915",
    asked: {
      thinking: { type: "enabled" },
      include: ["reasoning.encrypted_content"],
      caching: { type: "enabled" },
      max_output_tokens: 5_000,
    },
  },
];

/** A hand-written body: spaces, escapes, members in any order, unusual numbers. */
function bodyOf({ path, asked }: Native, model: string, more: string): string {
  const said = path === "/v1/messages" ? `"messages": [ {"content":${odd},\t"role":"user"} ]` : `"input" :${odd}`;
  const members = Object.entries(asked).map(([name, value]) => `"${name}":  ${JSON.stringify(value)}`);
  return `{ ${said} ,\n${[...members, ...(more === "" ? [] : [more])].join(" ,")}, "model": "${model}" }\n`;
}

const version = { "anthropic-version": "2023-06-01", "anthropic-beta": "context-1m-2025-08-07,output-128k-2025-02-19" };
const versionOf = ({ provider }: Native): Record<string, string> => (provider === "anthropic" ? version : {});

describe.each(natives.map((native) => [`${native.prefix}${native.path}`, native] as const))("%s", (_, native) => {
  const ask = (body: string, headers: Record<string, string> = versionOf(native)): Promise<Response> =>
    fetch(rig.gateway.url + native.path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, ...headers },
      body,
    });

  const direct = (body: string, headers: Record<string, string> = versionOf(native)): Promise<Response> => {
    const key =
      native.provider === "anthropic" ? { "x-api-key": simulatedKey } : { authorization: `Bearer ${simulatedKey}` };
    const url = rig.simulators.providers[native.provider] + native.upstreamPath;
    return fetch(url, { method: "POST", headers: { ...key, ...headers }, body });
  };

  /** The same both ways: through the gateway, and straight to the provider with the bytes that it must have got. */
  async function both(more: string, fault = "") {
    const relayed = await ask(bodyOf(native, `${native.prefix}/${native.model}${fault}`, more));
    const text = await relayed.text();
    const expected = bodyOf(native, native.model + fault, more);
    expect(rig.received(native.model).map(({ body }) => body)).toContain(expected);
    return { relayed, text, straight: await (await direct(expected)).text() };
  }

  test("a whole answer", async () => {
    const { relayed, text, straight } = await both("");
    expect(relayed.status).toBe(200);
    expect(text).toBe(straight);
    expect(text).toContain("Grüße");
    expect(Number(relayed.headers.get("x-tollgate-credits"))).toBeGreaterThan(0);
  });

  test.each(["", "+split-7", "+crlf"])("a stream%s", async (fault) => {
    const { relayed, text, straight } = await both('"stream":true', fault);
    expect(relayed.headers.get("content-type")).toContain("text/event-stream");
    const ended = native.endsWithDone && !/data: ?\[DONE\]/.test(straight);
    const lineEnd = fault === "+crlf" ? "\r\n" : "\n";
    expect(text).toBe(ended ? `${straight}data: [DONE]${lineEnd}${lineEnd}` : straight);
  });

  test.each(["+status-400", "+status-429", "+status-503"])("an error%s", async (fault) => {
    const { relayed, text, straight } = await both("", fault);
    expect(relayed.status).toBe(Number(fault.slice(-3)));
    expect(text).toBe(straight);
  });

  test("an error event in a stream", async () => {
    const { text, straight } = await both('"stream":true', "+error-6");
    expect(text.startsWith(straight)).toBe(true);
  });
});

describe("Anthropic's headers", () => {
  const received = (mark: string) => rig.simulators.requests().findLast(({ body }) => body.includes(mark))?.headers;

  const ask = (headers: Record<string, string>, mark: string, path = "/v1/messages"): Promise<Response> =>
    fetch(rig.gateway.url + path, {
      method: "POST",
      headers: { "x-api-key": token, ...headers },
      body: JSON.stringify({
        model: "claude/claude-haiku-4-5",
        messages: [{ role: "user", content: mark }],
        ...(path === "/v1/messages" ? { max_tokens: 10 } : {}),
      }),
    });

  test.each(["2023-06-01", "2026-10-21"])("version %s goes to the provider, and so do betas", async (asked) => {
    for (const path of ["/v1/messages", "/v1/messages/count_tokens"]) {
      const mark = `${path} by ${asked}`;
      const betas = "context-1m-2025-08-07, mcp-client-2025-11-20";
      const answer = await ask({ "anthropic-version": asked, "anthropic-beta": betas }, mark, path);
      expect(answer.status).toBe(200);
      expect(received(mark)).toMatchObject({ "anthropic-version": asked, "anthropic-beta": betas });
      expect(received(mark)).toMatchObject({ "x-api-key": simulatedKey });
    }
  });

  test("the version decides: the newer one refuses members of the older", async () => {
    const sampled = (asked: string): Promise<Response> =>
      fetch(`${rig.gateway.url}/v1/messages`, {
        method: "POST",
        headers: { "x-api-key": token, "anthropic-version": asked },
        body: JSON.stringify({
          model: "anthropic/claude-haiku-4-5",
          max_tokens: 10,
          temperature: 0.5,
          messages: [{ role: "user", content: "Hello!" }],
        }),
      });
    expect((await sampled("2023-06-01")).status).toBe(200);
    expect((await sampled("2026-10-21")).status).toBe(400);
  });

  test("an unknown version or beta is the provider's to refuse, and a call without a version has one", async () => {
    expect((await ask({ "anthropic-version": "1999-01-01" }, "old")).status).toBe(400);
    expect((await ask({ "anthropic-beta": "no such beta" }, "unknown")).status).toBe(400);
    expect((await ask({}, "no version")).status).toBe(200);
    expect(received("no version")).toMatchObject({ "anthropic-version": "2023-06-01" });
  });
});
