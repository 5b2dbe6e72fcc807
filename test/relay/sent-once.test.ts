/**
 * An upstream that closes a reused connection at any moment of a request, against real processes: what the upstream may
 * have begun is sent again only if that costs little, within the configured retries, and never by the transport.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { Socket } from "bun";
import { type Gateway, startGateway, until } from "../kit/index.ts";

type Body = Readonly<Record<string, unknown>> | (() => FormData);

/** Text, and whatever costs as little. */
const repeated: Record<string, Body> = {
  "/v1/chat/completions": { model: "up/gpt-5", messages: [{ role: "user", content: "x" }] },
  "/v1/responses": { model: "up/gpt-5", input: "x" },
  "/v1/messages": { model: "claude/claude-opus-4-5", max_tokens: 10, messages: [{ role: "user", content: "x" }] },
  "/v1/completions": { model: "up/gpt-3.5-turbo-instruct", prompt: "x" },
  "/v1/embeddings": { model: "up/text-embedding-3-small", input: "x" },
  "/v1/moderations": { model: "up/omni-moderation-latest", input: "x" },
};

const form = (fields: Record<string, string | File>): FormData => {
  const all = new FormData();
  for (const [name, value] of Object.entries(fields)) all.set(name, value);
  return all;
};
/** A second of silence. */
const sound = (): File => {
  const samples = 8_000;
  const wave = Buffer.alloc(44 + 2 * samples);
  wave.write("RIFF", 0);
  wave.writeUInt32LE(36 + 2 * samples, 4);
  wave.write("WAVEfmt ", 8);
  for (const [at, value] of [
    [16, 16],
    [24, samples],
    [28, 2 * samples],
    [40, 2 * samples],
  ] as const)
    wave.writeUInt32LE(value, at);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 2],
    [34, 16],
  ] as const)
    wave.writeUInt16LE(value, at);
  wave.write("data", 36);
  return new File([wave], "a.wav", { type: "audio/wav" });
};

/** Work that is bought a second time if it is done twice. */
const once: Record<string, Body> = {
  "/v1/images/generations": { model: "up/gpt-image-1", prompt: "x" },
  "/v1/images/edits": () => form({ model: "up/gpt-image-1", prompt: "x", image: new File(["png"], "a.png") }),
  "/v1/audio/speech": { model: "up/tts-1", voice: "alloy", input: "x" },
  "/v1/audio/transcriptions": () => form({ model: "up/whisper-1", file: sound() }),
  "/v1/audio/translations": () => form({ model: "up/whisper-1", file: sound() }),
  "/v1/videos": { model: "up/sora-2", prompt: "x" },
  "/v1/videos/edits": () => form({ model: "up/sora-2", prompt: "x", video: new File(["mp4"], "a.mp4") }),
  "/v1/videos/extensions": () =>
    form({ model: "up/sora-2", prompt: "x", seconds: "4", video: new File(["mp4"], "a.mp4") }),
};

type Peer = Socket<{ received: string; requests: number }>;

/** How the upstream closes, and whether text is worth another attempt then. */
const moments: Record<string, { close: (peer: Peer) => void; onBody: boolean; isRepeated: boolean }> = {
  "at the first bytes": { close: (peer) => peer.terminate(), onBody: false, isRepeated: true },
  "politely, at the first bytes": { close: (peer) => void peer.end(), onBody: false, isRepeated: true },
  "after the request": { close: (peer) => peer.terminate(), onBody: true, isRepeated: true },
  "politely, after the request": { close: (peer) => void peer.end(), onBody: true, isRepeated: true },
  "after some work": { close: (peer) => void setTimeout(() => peer.terminate(), 50), onBody: true, isRepeated: true },
  "within the head of its answer": {
    close: (peer) => {
      peer.write("HTTP/1.1 2");
      peer.end();
    },
    onBody: true,
    isRepeated: false,
  },
};

const refusal = JSON.stringify({ error: { message: "no", type: "invalid_request_error", code: null, param: null } });

/** Refuses every request, so that its connection stays; one that is not the first of its connection is closed on. */
class ClosingUpstream {
  requests = 0;
  reused = 0;
  moment: { close: (peer: Peer) => void; onBody: boolean } | undefined;
  readonly #listener = Bun.listen<Peer["data"]>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open: (peer) => void (peer.data = { received: "", requests: 0 }),
      data: (peer, bytes) => this.#receive(peer, bytes.toString("latin1")),
      error: () => undefined,
    },
  });

  get url(): string {
    return `http://127.0.0.1:${this.#listener.port}`;
  }

  #receive(peer: Peer, text: string): void {
    const { data } = peer;
    if (data.received === "") {
      this.requests += 1;
      data.requests += 1;
      if (data.requests > 1) this.reused += 1;
    }
    data.received += text;
    const closing = data.requests > 1 ? this.moment : undefined;
    if (closing?.onBody === false) return closing.close(peer);
    if (!isWhole(data.received)) return;
    data.received = "";
    if (closing !== undefined) return closing.close(peer);
    const head = ["HTTP/1.1 400 Bad Request", "content-type: application/json", `content-length: ${refusal.length}`];
    peer.write(`${head.join("\r\n")}\r\n\r\n${refusal}`);
  }

  stop(): void {
    this.#listener.stop(true);
  }
}

function isWhole(received: string): boolean {
  const head = received.indexOf("\r\n\r\n");
  if (head === -1) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(received.slice(0, head))?.[1];
  return length === undefined ? received.endsWith("0\r\n\r\n") : received.length >= head + 4 + Number(length);
}

describe.each([0, 2])("with %d retries, a reused connection that closes", (retries) => {
  let upstream: ClosingUpstream;
  let gateway: Gateway;
  let token: string;
  beforeAll(async () => {
    upstream = new ClosingUpstream();
    const entry = (kind: string) => ({ kind, base_url: `${upstream.url}/v1`, api_key: "key" });
    const price = {
      input_mtok: 1,
      output_mtok: 2,
      output_video_seconds: 0.1,
      input_mchars: 1,
      input_audio_hours: 1,
      image: 0.1,
      output_image_mtok: 10,
      input_image_mtok: 5,
      input_audio_mtok: 5,
    };
    gateway = await startGateway({
      providers: { up: entry("openai"), claude: entry("anthropic") },
      config: { upstream: { retries }, pricing: { models: { "*": price } } },
    });
    token = await gateway.token({ credits: 1_000_000_000_000n });
  });
  afterAll(async () => {
    await gateway.stop();
    upstream.stop();
  });
  beforeEach(() => {
    upstream.moment = undefined;
  });

  const ask = async (path: string, body: Body): Promise<Response> => {
    const sent = typeof body === "function" ? body() : JSON.stringify(body);
    const headers = {
      authorization: `Bearer ${token}`,
      ...(typeof sent === "string" && { "content-type": "application/json" }),
    };
    const response = await fetch(gateway.url + path, { method: "POST", headers, body: sent });
    await response.arrayBuffer();
    return response;
  };

  /** The answer to a request on a connection that has carried one, and how often that was sent. */
  async function askOnReused(path: string, body: Body, moment: keyof typeof moments) {
    upstream.moment = undefined;
    // Nothing of an earlier case is left: its connections are closed.
    const first = await ask(path, body);
    expect([path, first.status]).toEqual([path, 400]);
    upstream.moment = moments[moment];
    const before = upstream.requests;
    const reused = upstream.reused;
    const { status, headers } = await ask(path, body);
    return {
      status,
      sent: upstream.requests - before,
      isReused: upstream.reused > reused,
      id: headers.get("x-request-id"),
    };
  }

  /** The log's lines about these calls, once each of them has ended. */
  const linesOf = (ids: readonly (string | null)[]): Promise<Record<string, unknown>[]> =>
    until("the ends are logged", () => {
      const lines = gateway.logLines().filter((line) => ids.includes(String(line["request_id"])));
      return lines.filter((line) => line["outcome"] !== undefined).length === ids.length && lines;
    });

  test.each(Object.entries(moments))("%s: text is worth another attempt", async (moment, { isRepeated }) => {
    const isSentAgain = isRepeated && retries > 0;
    const ids: (string | null)[] = [];
    for (const [path, body] of Object.entries(repeated)) {
      const { id, ...seen } = await askOnReused(path, body, moment);
      expect({ path, ...seen }).toEqual({
        path,
        isReused: true,
        status: isSentAgain ? 400 : 502,
        sent: isSentAgain ? 2 : 1,
      });
      ids.push(id);
    }
    // Each attempt is counted and logged, with what it may cost.
    const attempts = (await linesOf(ids)).filter((line) => line["attempt"] !== undefined);
    const failure = isRepeated ? "unreachable" : "broken";
    expect(attempts.map((line) => [line["attempt"], line["failure"], Number(line["unbilled"]) > 0])).toEqual(
      ids.map(() => [1, failure, true]),
    );
  });

  test.each(Object.entries(moments))("%s: other work ends, and the operator is told its price", async (moment) => {
    const ids: (string | null)[] = [];
    for (const [path, body] of Object.entries(once)) {
      const { id, status, sent } = await askOnReused(path, body, moment);
      expect({ path, status, sent }).toEqual({ path, status: 502, sent: 1 });
      ids.push(id);
    }
    const ends = (await linesOf(ids)).filter((line) => line["outcome"] !== undefined);
    expect(ends.map((line) => [line["credits"], Number(line["unbilled"]) > 0])).toEqual(ids.map(() => ["0", true]));
  });
});
