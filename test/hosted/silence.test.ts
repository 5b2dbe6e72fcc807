/** Loops that take long: signs of life while a tool runs, and the last round after the deadline. */
import { describe, expect, test } from "bun:test";
import { hostedScene, type ModelAnswer } from "./hosted-scene.ts";

/** Every second round comes after it. */
const at = hostedScene({ tools: { deadline: "1ms" } });

const search: ModelAnswer = { text: "Let me look.", calls: [{ name: "web_search", args: { query: "q" } }] };

const messages = [{ role: "user", content: "Hi" }];
const bodies = {
  "/v1/responses": { input: "Hi", tools: [{ type: "web_search" }] },
  "/v1/messages": { max_tokens: 100, messages, tools: [{ type: "web_search_20250305", name: "web_search" }] },
  "/v1/chat/completions": { messages, web_search_options: {} },
} as const;
const paths = Object.keys(bodies) as (keyof typeof bodies)[];

test("while a tool runs, each client gets pings or comments, and then the rest", async () => {
  const scene = at();
  const goOn = Promise.withResolvers<void>();
  scene.engine.before = () => goOn.promise;
  scene.answers((request) => (request.messages.length === 1 ? search : { text: "OK." }));
  const streams = await Promise.all(
    paths.map(async (path) => {
      const answer = await scene.post(path, { ...bodies[path], stream: true });
      const ping = path === "/v1/messages" ? 'event: ping\ndata: {"type":"ping"}\n\n' : "\n\n: ping\n\n";
      return { path, ping, ...(await readUntil(answer, ping)) };
    }),
  );
  // Nobody has got anything of the rest so far.
  for (const { text } of streams) expect(text).not.toContain("OK.");
  goOn.resolve();
  scene.engine.before = () => undefined;
  for (const { rest, text } of streams) {
    const whole = text + (await rest());
    expect(whole).toContain("OK.");
    expect(whole).not.toContain("event: error");
  }
});

/** Reads a stream until it has this text. `rest` reads on to its end. */
async function readUntil(answer: Response, wanted: string): Promise<{ text: string; rest: () => Promise<string> }> {
  const body: ReadableStream<Uint8Array> = answer.body ?? new Blob().stream();
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const readWhile = async (goesOn: (text: string) => boolean): Promise<string> => {
    let text = "";
    while (goesOn(text)) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
    return text;
  };
  const text = await readWhile((read) => !read.includes(wanted));
  expect(text).toContain(wanted);
  return { text, rest: () => readWhile(() => true) };
}

describe.each(paths)("after the deadline, in %s,", (path) => {
  test.each([false, true])("the model has to answer, and its calls are not run (streamed: %p)", async (stream) => {
    const scene = at();
    scene.answers(search, { ...search, text: "So." });
    const answer = await scene.post(path, { ...bodies[path], stream });
    const text = await answer.text();
    expect([answer.status, scene.asked.length, scene.queries.length]).toEqual([200, 2, 1]);
    expect(scene.asked.map(({ tool_choice: choice }) => choice)).toEqual([undefined, "none"]);
    // The tools stay: without them the beginning of the input would be another.
    expect(scene.asked[1]?.tools).toEqual(scene.asked[0]?.tools as never);
    expect(text).toMatch(/"status":"completed"|"stop_reason":"end_turn"|"finish_reason":"stop"/);
    expect(text).toContain("So.");
  });
});
