import { describe, expect, test } from "bun:test";
import { StdioBridge } from "./stdio-bridge.ts";

interface Sent {
  method: string;
  headers: Headers;
  body: string;
  signal: AbortSignal | undefined;
}

/** The messages that a client gets for its lines, from the answers of a test. */
async function bridge(lines: readonly string[], answer: (sent: Sent) => Response | Promise<Response>) {
  const written: unknown[] = [];
  const sent: Sent[] = [];
  const bridged = new StdioBridge({
    url: "http://gateway/mcp",
    token: "tg_x",
    fetch: async (_url, { method = "", headers, body, signal }) => {
      const one = {
        method,
        headers: new Headers(headers),
        body: typeof body === "string" ? body : "{}",
        signal: signal ?? undefined,
      };
      sent.push(one);
      return answer(one);
    },
    write: (line) => void written.push(JSON.parse(line)),
  });
  const input = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (const line of lines) {
        controller.enqueue(new TextEncoder().encode(line));
        await Bun.sleep(1);
      }
      controller.close();
    },
  });
  await bridged.run(input);
  return { written, sent };
}

const modern = JSON.stringify({
  jsonrpc: "2.0",
  id: 5,
  method: "tools/call",
  params: { name: "wörter", _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
});

describe("the bridge", () => {
  test("sends the headers of a stateless message, and returns its answer as a line", async () => {
    const result = '{"jsonrpc":"2.0","id":5,\n"result":{}}';
    const { written, sent } = await bridge([`${modern}\n`], () => new Response(result));
    expect(written).toEqual([{ jsonrpc: "2.0", id: 5, result: {} }]);
    expect(Object.fromEntries(sent[0]?.headers ?? [])).toMatchObject({
      authorization: "Bearer tg_x",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "tools/call",
      "mcp-name": `=?base64?${Buffer.from("wörter").toString("base64")}?=`,
    });
  });

  test("keeps the session of an older client, and ends it", async () => {
    const lines = ['{"jsonrpc":"2.0","id":1,"method":"initialize"}\n', '{"jsonrpc":"2.0","id":2,"method":"ping"}\n'];
    const { sent } = await bridge(lines, ({ body }) => {
      const { id } = JSON.parse(body) as { id?: number };
      return Response.json(
        { jsonrpc: "2.0", id, result: { protocolVersion: "2025-11-25" } },
        { headers: { "mcp-session-id": "s" } },
      );
    });
    expect(sent.map(({ method, headers }) => [method, headers.get("mcp-session-id")])).toEqual([
      ["POST", null],
      ["POST", "s"],
      ["DELETE", "s"],
    ]);
    expect(sent[1]?.headers.get("mcp-protocol-version")).toBe("2025-11-25");
  });

  test.each([
    ["as long as there is one", 200],
    ["unless there is none", 405],
  ])("reads the stream of changes of an older client's session, %s", async (_when, status) => {
    const lines = [
      '{"jsonrpc":"2.0","id":1,"method":"initialize"}\n',
      '{"jsonrpc":"2.0","method":"notifications/initialized"}\n',
    ];
    const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" };
    const answer = ({ method }: Sent): Response => {
      if (method === "" && status === 405) return new Response("", { status });
      if (method !== "")
        return Response.json({ jsonrpc: "2.0", id: 1, result: {} }, { headers: { "mcp-session-id": "s" } });
      const events = { "content-type": "text/event-stream" };
      return new Response(`: open\n\ndata: ${JSON.stringify(changed)}\n\n`, { headers: events });
    };
    // The client says nothing for a while.
    const { written, sent } = await bridge([...lines, ...Array.from({ length: 40 }, () => "\n")], answer);
    const reads = sent.filter(({ method }) => method === "");
    expect(reads.map(({ headers }) => headers.get("mcp-session-id"))).toEqual(["s"]);
    expect(written).toEqual([{ jsonrpc: "2.0", id: 1, result: {} }, ...(status === 200 ? [changed] : [])]);
  });

  test("passes on every event of a stream, split anywhere", async () => {
    const events =
      ': keep-alive\n\ndata: {"jsonrpc":"2.0","method":"m"}\n\ndata: {"jsonrpc":"2.0","id":5,"result":{}}\n\n';
    const { written } = await bridge([modern.slice(0, 20), `${modern.slice(20)}\n`], () => {
      const pieces = new ReadableStream<Uint8Array>({
        start(controller) {
          for (const character of events) controller.enqueue(new TextEncoder().encode(character));
          controller.close();
        },
      });
      return new Response(pieces, { headers: { "content-type": "text/event-stream" } });
    });
    expect(written).toEqual([
      { jsonrpc: "2.0", method: "m" },
      { jsonrpc: "2.0", id: 5, result: {} },
    ]);
  });

  test("closes the request that a stateless client cancels, and says nothing more of it", async () => {
    const cancel = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}\n';
    const { written, sent } = await bridge([`${modern}\n`, cancel], ({ signal }) => {
      const { promise, reject } = Promise.withResolvers<Response>();
      signal?.addEventListener("abort", () => reject(new Error("closed")));
      return promise;
    });
    expect(sent).toHaveLength(1);
    expect(sent[0]?.signal?.aborted).toBe(true);
    expect(written).toEqual([]);
  });

  test.each<[string, () => Response | Promise<Response>, string]>([
    ["no gateway", () => Promise.reject(new Error("refused")), "does not answer: refused"],
    [
      "a refused token",
      () => Response.json({ jsonrpc: "2.0", id: null, error: { code: 401, message: "no token" } }, { status: 401 }),
      "no token",
    ],
    ["another server", () => new Response("<html>", { status: 502 }), "answered with 502"],
    [
      "a stream that breaks off",
      () => new Response("", { headers: { "content-type": "text/event-stream" } }),
      "before its response",
    ],
  ])("answers the request with an error for %s", async (_what, answer, message) => {
    const { written } = await bridge([`${modern}\n`], answer);
    expect(written).toMatchObject([{ id: 5, error: { message: expect.stringContaining(message) as string } }]);
  });

  test("refuses a line that is no JSON, and goes on", async () => {
    const { written } = await bridge(["{\n", "\n", `${modern}\n`], () => Response.json({ jsonrpc: "2.0", id: 5 }));
    expect(written).toMatchObject([{ id: null, error: { code: -32_700 } }, { id: 5 }]);
  });
});
