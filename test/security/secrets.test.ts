/**
 * Secrets and text stay out of the log, the storage and every error: after a run with each kind of success and failure,
 * all of them are searched for marks from the tokens, the upstream's keys, the prompts and the answers.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Database } from "bun:sqlite";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import {
  chatPath,
  messagesPath,
  responsesPath,
  type Rig,
  type ScriptedUpstream,
  startRig,
  startScriptedUpstream,
  until,
} from "../kit/index.ts";

const upstreamKey = "sk-marked-key-7f3a91c2e8";
const secondKey = "sk-marked-spare-5d20b7aa41";
const promptMark = "marked-prompt-c41d7e";
const answerMark = "marked-answer-90be2f";

let rig: Rig;
let scripted: ScriptedUpstream;
let token: string;
const tokens: string[] = [];
/** Everything that callers were answered with, headers included. */
const answers: string[] = [];

beforeAll(async () => {
  scripted = startScriptedUpstream();
  rig = await startRig({
    config: { log: { level: "trace" }, server: { body_limit: "64KiB" }, upstream: { retries: 1 } },
    variables: { MARKED_KEY: upstreamKey },
    providers: ({ providers }) => ({
      openai: { kind: "openai", base_url: providers.openai, api_key: "${MARKED_KEY}" },
      anthropic: { kind: "anthropic", base_url: providers.anthropic, api_key: upstreamKey },
      odd: { kind: "openai-compatible", base_url: scripted.url, api_key: upstreamKey, api_keys: [secondKey] },
      // A key that is refused three times is not asked any more.
      ...Object.fromEntries(
        [401, 403, 429].map((status) => [
          `odd${status}`,
          { kind: "openai-compatible", base_url: scripted.url, api_key: upstreamKey, api_keys: [secondKey] },
        ]),
      ),
      closed: { kind: "openai", base_url: "http://127.0.0.1:1", api_key: upstreamKey },
    }),
  });
  token = await issue({ user: "talker" });
});

afterAll(async () => {
  await rig.stop();
  await scripted.stop();
});

async function issue(request: Parameters<Rig["gateway"]["token"]>[0]): Promise<string> {
  const issued = await rig.gateway.token(request);
  tokens.push(issued);
  return issued;
}

const secretOf = (issued: string): string => issued.slice(16);
const said = [{ role: "user", content: `${promptMark} says hello` }];

async function send(body: string, using = token, path = chatPath): Promise<string> {
  const headers = { authorization: `Bearer ${using}`, "x-client-request-id": "abc" };
  const answer = await fetch(rig.gateway.url + path, { method: "POST", headers, body });
  const text = await answer.text().catch(String);
  answers.push(`${answer.status} ${JSON.stringify([...answer.headers])} ${text}`);
  return text;
}

const ask = (model: string, more: object = {}, using = token) =>
  send(JSON.stringify({ model, messages: said, max_tokens: 50, ...more }), using);

/** The same in Messages, and in Responses of which nothing is to be kept. */
const askOtherwise = (model: string, more: object = {}) =>
  Promise.all([
    send(JSON.stringify({ model, messages: said, max_tokens: 50, ...more }), token, messagesPath),
    send(JSON.stringify({ model, input: said, store: false, ...more }), token, responsesPath),
  ]);

/** An answer of the scripted upstream that repeats the key which it was called with. */
function echoKey(make: (key: string) => Response): void {
  scripted.answerWith(({ key }) => make(key));
}

const json = (value: unknown, status = 200) => Response.json(value, { status });
const completion = { object: "chat.completion", choices: [{ message: { role: "assistant", content: answerMark } }] };
const events = (...data: string[]) =>
  new Response(data.map((one) => `data: ${one}\n\n`).join(""), { headers: { "content-type": "text/event-stream" } });

describe("a run with everything that can go wrong", () => {
  test("answers", async () => {
    expect(await ask("openai/gpt-4o-mini")).toContain(promptMark);
    expect(await ask("openai/gpt-4o-mini", { stream: true })).toContain(promptMark);
    await ask("anthropic/claude-haiku-4-5", { stream: true });
    scripted.answerWith(() =>
      json({ ...completion, usage: { prompt_tokens: 5, completion_tokens: 5, total_tokens: 10 } }),
    );
    expect(await ask("odd/x")).toContain(answerMark);
    scripted.answerWith(() => json(completion));
    expect(await ask("odd/x")).toContain(answerMark);
  });

  test("answers in Messages and Responses, passed on and translated", async () => {
    for (const model of ["openai/gpt-4o-mini", "anthropic/claude-haiku-4-5", "deepseek/deepseek-chat"]) {
      for (const stream of [true, false]) {
        for (const text of await askOtherwise(model, { stream })) expect(text).toContain("marked-prompt");
      }
    }
    const counted = JSON.stringify({ model: "deepseek/deepseek-chat", messages: said });
    expect(await send(counted, token, `${messagesPath}/count_tokens`)).toContain("input_tokens");
  });

  test("refusals in Messages and Responses", async () => {
    await askOtherwise("nobody/x");
    await askOtherwise("deepseek/deepseek-chat", { tools: [{ name: promptMark, type: promptMark }] });
    await askOtherwise("deepseek/deepseek-chat", { [promptMark]: 1, tool_choice: promptMark });
    await askOtherwise("openai/gpt-4o-mini", { previous_response_id: promptMark, tools: promptMark });
    for (const path of [messagesPath, responsesPath]) {
      await send(`${promptMark} is no JSON`, token, path);
      await send(JSON.stringify({ model: "mistral/m", messages: promptMark, input: [promptMark] }), token, path);
      const unknown = [{ role: "user", content: [{ type: promptMark, text: promptMark }] }];
      await send(JSON.stringify({ model: "mistral/m", max_tokens: 5, messages: unknown, input: unknown }), token, path);
    }
    const headers = { authorization: `Bearer ${token}` };
    for (const path of ["", "/input_items"]) {
      const answer = await fetch(`${rig.gateway.url}${responsesPath}/${promptMark}${path}`, { headers });
      answers.push(`${JSON.stringify([...answer.headers])} ${await answer.text()}`);
    }
  });

  test("refusals", async () => {
    const wrong = `${token.slice(0, -8)}${token.endsWith("AAAAAAAA") ? "B" : "A"}AAAAAAA`;
    await ask("openai/gpt-4o-mini", {}, wrong);
    await ask("openai/gpt-4o-mini", {}, upstreamKey);
    await ask("openai/gpt-4o-mini", {}, await issue({ user: "penniless", credits: undefined }));
    await ask("openai/gpt-4o-mini", {}, await issue({ user: "bound", models: ["xai/*"] }));
    const revoked = await issue({ user: "leaver" });
    await rig.gateway.cli("token", "revoke", revoked.slice(3, 15));
    await until("the revocation is seen", async () =>
      (await ask("openai/gpt-4o-mini", {}, revoked)).includes("revoked"),
    );
    await ask("nobody/x");
    await ask("no-prefix");
    await send(`{"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":"${promptMark}`);
    await send(`${promptMark} is no JSON`);
    await send(`{"model":"openai/gpt-4o-mini","messages":"${promptMark}"}`);
    await send(
      `{"model":"openai/gpt-4o-mini","messages":[{"role":"user","content":"${promptMark}","content":"${promptMark}"}]}`,
    );
    await ask("openai/gpt-4o-mini", { max_tokens: promptMark });
    await ask("openai/gpt-4o-mini", { padding: promptMark.repeat(5_000) });
    await ask("openai/gpt-4o-mini", { [promptMark]: 1, stream: promptMark });
  });

  test.each([
    "status-400",
    "status-401",
    "status-429",
    "status-500",
    "connect-reset",
    "malformed",
    "empty",
    "truncate",
    "html-502",
    "no-usage",
    "gzip",
    "cut-3",
    "error-3",
  ])("the simulator's fault %s", async (fault) => {
    await ask(`openai/gpt-4o-mini+${fault}`);
    await ask(`openai/gpt-4o-mini+${fault}`, { stream: true });
    await askOtherwise(`openai/gpt-4o-mini+${fault}`);
    await askOtherwise(`openai/gpt-4o-mini+${fault}`, { stream: true });
  });

  test("an upstream that is not there", async () => {
    expect(await ask("closed/x")).toContain("could not be reached");
  });

  test("an upstream that repeats its key and the prompt", async () => {
    const echo = (key: string) => ({ error: { message: `${key} may not say ${promptMark}`, code: "invalid_api_key" } });
    for (const status of [200, 400, 401, 403, 429, 500]) {
      echoKey((key) => json(echo(key), status));
      const isKeys = [401, 403, 429].includes(status);
      const provider = isKeys ? `odd${status}` : "odd";
      const shown = isKeys ? `The provider ${provider} refuses the gateway's key.` : "[redacted] may not say";
      for (const text of [await ask(`${provider}/x`), ...(await askOtherwise(`${provider}/x`))])
        expect(text).toContain(shown);
    }
    echoKey(
      (key) => new Response(`<html>${key} ${answerMark}`, { status: 502, headers: { "content-type": "text/html" } }),
    );
    expect(await ask("odd/x")).toContain("[redacted]");
    echoKey((key) => new Response(`${key} ${answerMark} is no JSON`));
    expect(await ask("odd/x")).toContain("not a JSON object");
  });

  test("a stream that repeats its key in an error, first or late", async () => {
    const chunk = JSON.stringify({ choices: [{ delta: { content: answerMark } }] });
    const error = (key: string) => JSON.stringify({ error: { message: `${key} is over its limit` } });
    echoKey((key) => events(error(key)));
    expect(await ask("odd/x", { stream: true })).toContain("[redacted] is over its limit");
    echoKey((key) => events(chunk, chunk, error(key)));
    expect(await ask("odd/x", { stream: true })).toContain("[redacted] is over its limit");
    for (const text of await askOtherwise("odd/x", { stream: true }))
      expect(text).toContain("[redacted] is over its limit");
    // The last event without its empty line.
    echoKey(
      (key) =>
        new Response(`data: ${chunk}\n\ndata: ${error(key)}`, { headers: { "content-type": "text/event-stream" } }),
    );
    expect(await ask("odd/x", { stream: true })).toContain("[redacted] is over its limit");
  });

  test("a caller who hangs up", async () => {
    const abort = new AbortController();
    const headers = { authorization: `Bearer ${token}` };
    const body = JSON.stringify({ model: "openai/gpt-4o-mini+stall-3", stream: true, messages: said });
    const answer = await fetch(rig.gateway.url + chatPath, { method: "POST", headers, body, signal: abort.signal });
    await answer.body?.getReader().read();
    abort.abort();
    await rig.expectBalancedBooks();
  });

  test("the other routes and the commands", async () => {
    for (const path of ["/v1/models", "/v1/user/info", "/health", "/openapi.json", `/v1/${promptMark}`]) {
      const answer = await fetch(rig.gateway.url + path, { headers: { authorization: `Bearer ${token}` } });
      answers.push(`${JSON.stringify([...answer.headers])} ${await answer.text()}`);
    }
    for (const command of [["token", "list"], ["ledger", "holds"], ["ledger", "audit"], ["models"], ["doctor"]]) {
      const { stdout, stderr } = await rig.gateway.cli(...command, "--json");
      answers.push(stdout, stderr);
    }
  });
});

describe("afterwards", () => {
  const secrets = (): string[] => [...tokens.map(secretOf), upstreamKey, secondKey];

  test("the run was not a quiet one", () => {
    expect(tokens.length).toBe(4);
    expect(answers.length).toBeGreaterThan(60);
    expect(answers.join("\n")).toContain(promptMark);
  });

  test("no answer and no command's output has a secret in it", () => {
    for (const secret of secrets()) expect(answers.filter((answer) => answer.includes(secret))).toEqual([]);
  });

  test("no log line has a secret, a prompt or an answer in it", async () => {
    const last = await fetch(`${rig.gateway.url}/v1/last`);
    await until("the log has been written", () => rig.gateway.log().includes(last.headers.get("x-request-id") ?? "?"));
    const log = rig.gateway.log();
    expect(log.split("\n").length).toBeGreaterThan(60);
    for (const mark of [...secrets(), promptMark, answerMark, "You said"]) {
      expect(log.split("\n").filter((line) => line.includes(mark))).toEqual([]);
    }
  });

  test("no byte of the storage has a secret, a prompt or an answer in it", () => {
    const files = readdirSync(rig.gateway.folder).filter((name) => name.startsWith("tollgate.db"));
    const dump = files.map((name) => readFileSync(join(rig.gateway.folder, name)).toString("latin1")).join("");
    // The dump is real: its required content exists.
    expect(dump).toContain("talker");
    expect(dump).toContain("gpt-4o-mini");
    for (const mark of [...secrets(), promptMark, answerMark, "You said"]) expect(dump.includes(mark)).toBe(false);
    // Nor in another spelling.
    for (const secret of tokens.map(secretOf)) {
      const bytes = Buffer.from(secret, "base64url");
      expect(dump.includes(bytes.toString("latin1"))).toBe(false);
      expect(dump.includes(bytes.toString("hex"))).toBe(false);
    }
  });

  test("a token is stored as the SHA-256 of its secret and nothing else", () => {
    const file = new Database(join(rig.gateway.folder, "tollgate.db"), { readonly: true });
    const rows = file.query<{ id: string; secret_hash: Uint8Array }, []>("SELECT id, secret_hash FROM tokens").all();
    file.close();
    expect(rows.length).toBe(tokens.length);
    for (const issued of tokens) {
      const row = rows.find(({ id }) => issued.startsWith(`tg_${id}_`));
      const hash = createHash("sha256").update(secretOf(issued)).digest("hex");
      expect(Buffer.from(row?.secret_hash ?? []).toString("hex")).toBe(hash);
    }
  });

  test("the storage is its owner's alone", () => {
    for (const name of ["tollgate.db", "tollgate.db-wal", "tollgate.db-shm"]) {
      const path = join(rig.gateway.folder, name);
      expect([name, existsSync(path), (statSync(path).mode & 0o777).toString(8)]).toEqual([name, true, "600"]);
    }
  });
});
