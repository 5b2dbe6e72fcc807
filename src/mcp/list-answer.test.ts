import { expect, test } from "bun:test";
import type { RpcId } from "./json-rpc.ts";
import { listAnswer } from "./list-answer.ts";
import type { McpServer, ToolListing } from "./server.ts";

const listing: ToolListing = { tools: '[{"name":"t","description":"Größe"}]', unavailable: ["dead"] };
const server: Pick<McpServer, "info"> = { info: { name: "test", title: "Test", version: "1" } };

const answered = (id: RpcId, isStateless: boolean): Response =>
  new Response(listAnswer(id, { listing, server, isStateless }));

test("each answer has its own id, whatever others are made before it is sent", async () => {
  const ids = [1, "two", 333, "", 'a"b', "ü".repeat(40), "x".repeat(500), 0];
  const answers = ids.flatMap((id) =>
    [true, false].map((isStateless) => ({ id, isStateless, response: answered(id, isStateless) })),
  );
  for (const { id, isStateless, response } of answers) {
    const { result, ...rest } = (await response.json()) as { result: { _meta: object } };
    expect(rest).toEqual({ jsonrpc: "2.0", id });
    expect(result).toMatchObject({ tools: [{ description: "Größe" }], _meta: { "tollgate/unavailable": ["dead"] } });
    expect("resultType" in result).toBe(isStateless);
  }
});
