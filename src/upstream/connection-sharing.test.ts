import { expect, test } from "bun:test";
import fc from "fast-check";
import type { UpstreamReply } from "../core/index.ts";
import { clientOf, type Peer, Reading, RawUpstream, replyOf, requestTo } from "./__fixtures__/raw-upstream.ts";

/** The upstream's behaviour for a request, and its caller's behaviour for the reply. */
const upstreamWays = ["length", "chunks", "close", "excess", "cut", "reset", "silence"] as const;
const callerWays = ["read", "read-late", "cancel", "abort", "abort-early"] as const;

type UpstreamWay = (typeof upstreamWays)[number];
type CallerWay = (typeof callerWays)[number];

function answer({ text, send, socket }: Peer): void {
  const [way, id = ""] = text.slice(text.indexOf("\r\n\r\n") + 4).split(" ");
  const chunk = `${id.length.toString(16)}\r\n${id}\r\n`;
  const chunks = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`;
  switch (way) {
    case "chunks":
      send(chunks);
      // Usually in a packet of its own.
      queueMicrotask(() => send("0\r\n\r\n"));
      break;
    case "close":
      send(`HTTP/1.1 200 OK\r\n\r\n${id}`);
      socket.end();
      break;
    case "excess":
      send(replyOf(id) + replyOf("of nobody"));
      break;
    case "cut":
      send(chunks);
      socket.end();
      break;
    case "reset":
      socket.terminate();
      break;
    case "silence":
      break;
    default:
      send(replyOf(id));
  }
}

const failing = new Set<UpstreamWay>(["cut", "reset", "silence"]);

/** One call from its beginning to its end. Throws if it received bytes of another. */
async function call(ask: (body: string, signal: AbortSignal) => Promise<UpstreamReply>, step: Step): Promise<void> {
  const { id, upstream, caller } = step;
  const abort = new AbortController();
  // A caller without an answer has to give up.
  const givesUp = caller === "abort-early" || upstream === "silence";
  const asked = ask(`${upstream} ${id}`, abort.signal);
  if (givesUp) setTimeout(() => abort.abort(new Error("given up")));
  const reply = await asked.catch(() => undefined);
  if (reply === undefined) {
    if (!givesUp && !failing.has(upstream)) throw new Error("a call has failed that should not");
    return;
  }
  if (caller === "read-late") await Bun.sleep(0);
  const reading = Reading.of(reply.body);
  if (caller === "cancel") return reply.body.cancel();
  if (caller === "abort") abort.abort(new Error("gone"));
  await reading.done;
  if (!id.startsWith(reading.text)) throw new Error(`${id} got ${reading.text}`);
  const isWhole = reading.state === "ended";
  if (isWhole && (reading.text !== id || upstream === "cut")) throw new Error(`${id} ended with ${reading.text}`);
  if (!isWhole && caller.startsWith("read") && !failing.has(upstream)) throw new Error("a reply has failed");
}

interface Step {
  id: string;
  upstream: UpstreamWay;
  caller: CallerWay;
}

test("every call gets its own reply, whatever happens to the others", async () => {
  const way = fc.record({ upstream: fc.constantFrom(...upstreamWays), caller: fc.constantFrom(...callerWays) });
  // Every second one is an ordinary call, so that connections are reused.
  const ordinary: Omit<Step, "id"> = { upstream: "length", caller: "read" };
  const rounds = fc.array(fc.array(fc.oneof(fc.constant(ordinary), way), { minLength: 1, maxLength: 8 }), {
    minLength: 1,
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(rounds, async (steps) => {
      using upstream = new RawUpstream(answer);
      using client = clientOf({ idleConnectionsMax: 4 });
      const ask = (body: string, signal: AbortSignal): Promise<UpstreamReply> =>
        client.ask(requestTo(upstream.url(), { body, signal }));
      for (const [round, calls] of steps.entries()) {
        await Promise.all(calls.map((step, index) => call(ask, { ...step, id: `<${round}.${index}>` })));
      }
      client.close();
      // No connection is left: each was closed by one side or the other.
      await upstream.until(() => upstream.closed === upstream.connections);
      expect(upstream.closed).toBe(upstream.connections);
    }),
    { numRuns: 60 },
  );
});
