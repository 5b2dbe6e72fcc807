import { describe, expect, test } from "bun:test";
import { CallAborter, type JsonObject } from "../core/index.ts";
import { tasksExtension } from "../mcp/index.ts";
import { type ServerResult, ToolServer } from "./tool-server.ts";

const tool = { name: "render", definition: {}, headers: [] };
const followsTasks = { extensions: { [tasksExtension]: {} } };

/** A call of a server that answers with this result, by a client with these capabilities. */
function call(result: JsonObject, capabilities: JsonObject | undefined): Promise<ServerResult> {
  const source = { request: () => Promise.resolve(result) };
  const access = { key: "", owner: "", lists: source, calls: source, secrets: () => [] };
  const server = new ToolServer({
    name: "s",
    accessOf: () => access,
    pins: undefined,
    tools: undefined,
    priceOf: () => expect.unreachable(),
    chargesErrors: () => false,
    isIdempotent: () => false,
    timeoutMs: 1_000,
    resultBytesMax: 1_000,
    clock: () => 0,
    logger: { info: () => undefined, warn: () => undefined, error: () => undefined, flush: () => undefined },
    wait: () => Promise.resolve(),
  });
  const input = capabilities && {
    client: { owner: "a", session: undefined },
    capabilities,
    takesQuestions: true,
    responses: undefined,
    state: undefined,
  };
  const asked = { access, tool, arguments: {}, signal: new CallAborter(), onProgress: undefined, input };
  return server.call({ ...asked, onSent: () => undefined });
}

describe("a task as the answer of a call", () => {
  const task = { resultType: "task", taskId: "t1", status: "working", ttlMs: 1_000 };
  const refusal = { code: "upstream_invalid_answer" };

  test("is paid by a client that follows tasks", async () => {
    expect(await call(task, followsTasks)).toEqual({ result: task, usage: { toolCalls: 1 } });
  });

  test.each([undefined, {}, { extensions: {} }])("is refused, and free, for a client with %p", (capabilities) => {
    expect(call(task, capabilities)).rejects.toMatchObject(refusal);
  });

  test.each<JsonObject>([{ taskId: "" }, { taskId: 1 }, { taskId: "x".repeat(1_025) }, { status: "won" }])(
    "is refused, and free, if it is none: %p",
    (part) => {
      expect(call({ ...task, ...part }, followsTasks)).rejects.toMatchObject(refusal);
    },
  );
});
