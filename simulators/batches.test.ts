/** Refusals of the simulated batches, as their providers give them. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Simulators, startSimulators } from "./index.ts";

let simulators: Simulators;
beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

const headers = { authorization: "Bearer sk-one", "content-type": "application/json" };

async function ask(address: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }> {
  const method = body === undefined ? "GET" : "POST";
  const answer = await fetch(address, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

async function upload(base: string, lines: readonly object[]): Promise<unknown> {
  const form = new FormData();
  form.set("purpose", "batch");
  form.set("file", new Blob(lines.map((line) => `${JSON.stringify(line)}\n`)), "lines.jsonl");
  const { authorization } = headers;
  const answer = await fetch(`${base}/files`, { method: "POST", headers: { authorization }, body: form });
  return ((await answer.json()) as { id: unknown }).id;
}

const bodyOf = (model: string) => ({ model, messages: [{ role: "user", content: "hi" }] });
const lineOf = (id: string, model: string, url = "/v1/chat/completions") => ({
  custom_id: id,
  method: "POST",
  url,
  body: bodyOf(model),
});

test.each([
  ["an id twice", [lineOf("a", "gpt-4o"), lineOf("a", "gpt-4o")], "duplicate_custom_id"],
  ["two models", [lineOf("a", "gpt-4o"), lineOf("b", "gpt-4o-mini")], "mismatched_model"],
  ["another address", [lineOf("a", "gpt-4o", "/v1/responses")], "invalid_json_line"],
  ["a model that is none", [lineOf("a", "missing-model")], "model_not_found"],
  ["no line", [], "empty_file"],
])("OpenAI's fail before their first line with %s", async (_, lines, code) => {
  const base = simulators.providers.openai;
  const input_file_id = await upload(base, lines);
  const asked = { input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" };
  const { body } = await ask(`${base}/batches`, asked);
  expect(body["status"]).toBe("validating");
  simulators.advance(1_000);
  const { body: failed } = await ask(`${base}/batches/${String(body["id"])}`);
  expect(failed).toMatchObject({ status: "failed", output_file_id: null, errors: { data: [{ code }] } });
});

test("Mistral's have the model of the job, and neither addresses nor ids twice in their lines", async () => {
  const base = simulators.providers.mistral;
  const stateOf = async (lines: readonly object[]): Promise<unknown> => {
    const input = [await upload(base, lines)];
    const job = { input_files: input, endpoint: "/v1/chat/completions", model: "mistral-small-latest" };
    const { body } = await ask(`${base}/batch/jobs`, job);
    simulators.advance(2_000);
    return (await ask(`${base}/batch/jobs/${String(body["id"])}`)).body["status"];
  };
  const line = { custom_id: "a", body: bodyOf("mistral-small-latest") };
  expect(await stateOf([line])).toBe("SUCCESS");
  expect(await stateOf([line, line])).toBe("FAILED");
  expect(await stateOf([lineOf("a", "mistral-small-latest")])).toBe("FAILED");
  expect((await ask(`${base}/batch/jobs`, { input_files: [], endpoint: "/v1/chat/completions" })).status).toBe(422);
});

test("Anthropic's are refused at once with an id twice or of another form, and take several models", async () => {
  const base = `${simulators.providers.anthropic}/v1/messages/batches`;
  const requestOf = (custom_id: string, model = "claude-haiku-4-5") => ({
    custom_id,
    params: { ...bodyOf(model), max_tokens: 10 },
  });
  expect((await ask(base, { requests: [requestOf("a"), requestOf("a")] })).status).toBe(400);
  expect((await ask(base, { requests: [requestOf("a b")] })).status).toBe(400);
  const mixed = await ask(base, { requests: [requestOf("a"), requestOf("b", "claude-sonnet-4-5")] });
  expect(mixed).toMatchObject({ status: 200, body: { processing_status: "in_progress", results_url: null } });
  expect((await ask(`${base}/${String(mixed.body["id"])}/results`)).status).toBe(404);
});

test("nobody finds the batches of another key", async () => {
  const base = simulators.providers.openai;
  const input_file_id = await upload(base, [lineOf("a", "gpt-4o")]);
  const asked = { input_file_id, endpoint: "/v1/chat/completions", completion_window: "24h" };
  const { body } = await ask(`${base}/batches`, asked);
  const other = await fetch(`${base}/batches/${String(body["id"])}`, { headers: { authorization: "Bearer sk-two" } });
  expect(other.status).toBe(404);
});
