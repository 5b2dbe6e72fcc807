/** Messages of clients with some of their bytes changed, sent to a real gateway: turns of Responses, realtime sessions, watchers. */
import fc from "fast-check";
import { post, type Rig, startRig } from "../kit/rig.ts";
import { waitMsMax } from "../kit/time-limits.ts";
import { mutate, mutations } from "./mutations.ts";
import { liveTarget } from "./target.ts";

const message = { type: "message", role: "user", content: [{ type: "input_text", text: "Hi" }] };
const tool = { type: "function", name: "f", description: "d", parameters: { type: "object", properties: {} } };

const turns = ["openai/gpt-5-mini", "anthropic/claude-haiku-4-5", "google/gemini-2.5-flash"].flatMap((model) => [
  { type: "response.create", model, input: "Hi", max_output_tokens: 20 },
  { type: "response.create", stream_id: "a", model, input: [message], tools: [tool], store: false },
  { type: "response.create", model, generate: false, input: [message], store: false, previous_response_id: "resp_1" },
]);

const session = {
  type: "realtime",
  instructions: "Be brief.",
  tools: [tool],
  audio: { input: { transcription: { model: "openai/gpt-4o-transcribe" }, turn_detection: null } },
};
const events = [
  { type: "session.update", session },
  { type: "conversation.item.create", event_id: "e1", item: message },
  { type: "response.create", response: { instructions: "Say it.", output_modalities: ["text"] } },
  { type: "response.cancel" },
  { type: "input_audio_buffer.append", audio: Buffer.alloc(480).toString("base64") },
  { type: "input_audio_buffer.commit" },
  { type: "conversation.item.truncate", item_id: "item_1", content_index: 0, audio_end_ms: 10 },
  { type: "conversation.item.delete", item_id: "item_1" },
];

interface Kind {
  path: string;
  examples: readonly object[];
  /** The messages that a client waits for: each of its own has one end. Without it nothing needs an answer. */
  isEnd?: (type: unknown) => boolean;
}

const turnEnds: ReadonlySet<unknown> = new Set([
  "error",
  "response.completed",
  "response.incomplete",
  "response.failed",
]);

interface Sent {
  bytes: Buffer;
  isBinary: boolean;
}

/** The start of a run. */
interface Scene {
  rig: Rig;
  token: string;
  kinds: Readonly<Record<"turns" | "session" | "watcher", Kind>>;
}

async function startScene(): Promise<Scene> {
  const rig = await startRig({ config: { log: { level: "error" } } });
  const token = await rig.gateway.token({ user: "fuzz", credits: 10n ** 18n });
  const started = await post(rig, "/v2/batch/scrape", token, { urls: ["http://127.0.0.1:1/"] });
  const { id } = (await started.json()) as { id: string };
  return {
    rig,
    token,
    kinds: {
      turns: { path: "/v1/responses", examples: turns, isEnd: (type) => turnEnds.has(type) },
      session: { path: "/v1/realtime?model=openai/gpt-realtime", examples: events },
      watcher: { path: `/v2/batch/scrape/${id}`, examples: [...turns, ...events] },
    },
  };
}

/** Sends the messages on a new socket, and waits for what they lead to. Rejects if the gateway does not go on as it should. */
async function talk({ rig, token }: Scene, { path, isEnd }: Kind, sent: readonly Sent[]): Promise<void> {
  const url = rig.gateway.url.replace("http", "ws") + path;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
  const over = Promise.withResolvers<void>();
  let missing = isEnd === undefined ? 0 : sent.length;
  let hasAnswered = false;
  const look = (): void => {
    if (missing <= 0 && hasAnswered) socket.close(1000);
  };
  socket.addEventListener("open", () => {
    for (const { bytes, isBinary } of sent) socket.send(isBinary ? bytes : bytes.toString("utf8"));
    socket.ping();
  });
  socket.addEventListener("pong", () => {
    hasAnswered = true;
    look();
  });
  socket.addEventListener("message", ({ data }) => {
    const { type } = JSON.parse(String(data)) as { type?: unknown };
    if (isEnd?.(type) === true) missing -= 1;
    look();
  });
  socket.addEventListener("close", ({ code, reason }) => {
    if (code === 1000 || code === 1008) over.resolve();
    else over.reject(new Error(`the socket was closed with ${code} ${reason}`));
  });
  const late = setTimeout(() => over.reject(new Error(`${missing} messages have no answer`)), waitMsMax);
  try {
    await over.promise;
  } finally {
    clearTimeout(late);
    socket.terminate();
  }
  const log = rig.gateway.log();
  if (log !== "") throw new Error(`the gateway has logged an error: ${log}`);
}

const property = (scene: Scene) =>
  fc.asyncProperty(
    fc.constantFrom(...Object.values(scene.kinds)).chain((kind) =>
      fc.record({
        kind: fc.constant(kind),
        sent: fc.array(
          fc.record({
            example: fc.constantFrom(...kind.examples),
            applied: fc.option(mutations),
            isBinary: fc.boolean(),
          }),
          { minLength: 1, maxLength: 8 },
        ),
      }),
    ),
    ({ kind, sent }) =>
      talk(
        scene,
        kind,
        sent.map(({ example, applied, isBinary }) => ({
          bytes: mutate(Buffer.from(JSON.stringify(example)), applied ?? []),
          isBinary,
        })),
      ),
  );

/** Afterwards nothing is held, and the books are balanced. */
export const sockets = liveTarget("sockets", {
  runs: 100,
  start: startScene,
  property,
  async stop({ rig }) {
    await rig.expectBalancedBooks();
    await rig.stop();
  },
});
