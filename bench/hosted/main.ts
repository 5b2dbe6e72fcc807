/**
 * A process of its own: a provider of chat that answers at once. It calls the function that the user's message names until it has its
 * result so often as that says: `calls:4 tool_search {"query":"x"}`. The content of a stream is the time at which it was written.
 */
import { sayLine, serveLines } from "../http1/lines.ts";
import { completion } from "../upstream/completion.ts";

interface Body {
  messages: { role: string; content: unknown }[];
  stream?: boolean;
}

const [choice] = completion.choices;

function nextCall({ messages }: Body): { name: string; arguments: string } | undefined {
  const asked = /calls:(\d+) (\w+) (\{.*\})/.exec(JSON.stringify(messages[0]?.content).replaceAll('\\"', '"'));
  const done = messages.filter(({ role }) => role === "tool").length;
  if (asked === null || done >= Number(asked[1])) return undefined;
  // The gateway opens no address that the user has not given.
  return { name: asked[2] ?? "", arguments: (asked[3] ?? "").replace("ADDRESS", "https://example.com/") };
}

function whole(body: Body): Response {
  const made = nextCall(body);
  if (made === undefined) return Response.json(completion);
  const message = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "call_1", type: "function", function: made }],
  };
  return Response.json({ ...completion, choices: [{ ...choice, message, finish_reason: "tool_calls" }] });
}

function chunk(delta: object, finish: string | null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...completion, object: "chat.completion.chunk", choices })}\n\n`;
}

function streamed(body: Body): Response {
  const made = nextCall(body);
  const calls = made && [{ index: 0, id: "call_1", type: "function", function: made }];
  const content = String(performance.timeOrigin + performance.now());
  const first = chunk(
    calls === undefined ? { role: "assistant", content } : { role: "assistant", tool_calls: calls },
    null,
  );
  const last = chunk({}, calls === undefined ? "stop" : "tool_calls");
  return new Response(`${first}${last}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
}

const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const body = (await request.json()) as Body;
    return body.stream === true ? streamed(body) : whole(body);
  },
});
sayLine({ url: `http://127.0.0.1:${server.port}` });
await serveLines(() => null);
