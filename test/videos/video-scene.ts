/** A gateway in front of upstreams whose answers a test writes itself, and a caller with ten credits. */
import { afterAll, beforeAll, beforeEach } from "bun:test";
import { openLedgerStore } from "../../src/ledger/index.ts";
import {
  type Engine,
  type Gateway,
  type GatewayOptions,
  type PostgresServer,
  query,
  type ScriptedUpstream,
  startGateway,
  startPostgres,
  startScriptedUpstream,
} from "../kit/index.ts";

/** A video of OpenAI's costs 0.1 credits a second, so that eight seconds are 0.8. */
const prices = {
  "openai/*": { output_video_seconds: { "720p": 0.1, "1024p": 0.5 } },
  "down/*": { output_video_seconds: 0.1 },
  "cut/*": { output_video_seconds: 0.1 },
  "cut-begun/*": { output_video_seconds: 0.1 },
  "xai/*": { output_video_seconds: { "480p": 0.05, "720p": 0.07 }, input_image: 0.01 },
  // BytePlus bills tokens: without their price nothing would be held or charged.
  "byteplus/seedance-by-second": { output_video_seconds: 0.1 },
  "byteplus/*": { output_video_mtok: { "from-text": 7, "from-video": 4 }, service_tiers: { flex: 0.5 } },
};

export const nano = (credits: number): bigint => BigInt(Math.round(credits * 1e9));

export type Json = Record<string, unknown>;

export const json = async (response: Response): Promise<Json> => (await response.json()) as Json;

interface Request {
  body?: object;
  /** The token; the caller's by default. */
  as?: string;
  headers?: Record<string, string>;
}

/** Starts it for the tests of a `describe`, with a new caller for each of them. */
export function videoScene(
  engine: Engine,
  { preload, config = {}, providers = {} }: Partial<Pick<GatewayOptions, "preload" | "config" | "providers">> = {},
) {
  let postgres: PostgresServer | undefined;
  let upstream: ScriptedUpstream;
  let gateway: Gateway;
  let users = 0;
  let user: string;
  let token: string;
  let ids = 0;

  const optionsOf = (storage?: string) => ({
    ...(preload !== undefined && { preload }),
    providers: {
      ...Object.fromEntries(
        ["openai", "xai", "byteplus"].map((kind) => [
          kind,
          { kind, base_url: `${upstream.url}/${kind}`, api_key: `key-${kind}` },
        ]),
      ),
      ...providers,
    },
    config: {
      pricing: { models: prices },
      upstream: { retries: 2 },
      web: { allow_private_hosts: ["127.0.0.1:*"] },
      webhooks: { encryption_key: "the key of a test with more than 32 characters" },
      ...config,
    },
    ...(storage === undefined ? {} : { storage }),
  });

  beforeAll(async () => {
    upstream = startScriptedUpstream();
    if (engine === "Postgres") postgres = await startPostgres();
    gateway = await startGateway(optionsOf(await postgres?.createDatabase()));
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.stop();
    await postgres?.stop();
  });
  beforeEach(async () => {
    users += 1;
    user = `u${users}`;
    token = await gateway.token({ user, credits: nano(10) });
  });

  const send = (method: string, path: string, { body, as = token, headers }: Request = {}): Promise<Response> => {
    const isForm = body instanceof FormData;
    return fetch(gateway.url + path, {
      method,
      headers: { authorization: `Bearer ${as}`, ...(isForm ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
    });
  };

  return {
    send,
    get gateway(): Gateway {
      return gateway;
    },
    get upstream(): ScriptedUpstream {
      return upstream;
    },
    get user(): string {
      return user;
    },
    newId(prefix: string): string {
      ids += 1;
      return `${prefix}${engine}-${ids}`;
    },
    async books() {
      const [account] = await openLedgerStore(gateway.storage).chain(`user:${user}`, Date.now());
      return { spent: account?.debitsPosted, held: account?.debitsPending };
    },
    /** The upstream's one job has this state from now on. */
    serve(id: string, job: () => Response): void {
      upstream.answerWith(({ method, path }) => {
        if (method === "GET") return job();
        if (method === "DELETE") return Response.json({ id, deleted: true });
        return Response.json(path.startsWith("/xai") ? { request_id: id } : { id, object: "video", status: "queued" });
      });
    },
    /** Looks a job up, however soon after the last time. */
    async poll(id: string): Promise<{ status: number; job: Json; headers: Headers }> {
      await query(gateway.storage, "UPDATE videos SET polled_at = 1");
      const response = await send("GET", `/v1/videos/${id}`);
      return { status: response.status, job: await json(response), headers: response.headers };
    },
    /** `kill -9`, and a new process on the same storage. `between` runs while there is none. */
    async restart(between: () => Promise<void>): Promise<void> {
      gateway.process.kill("SIGKILL");
      await gateway.process.exited;
      await between();
      const { folder, storageUrl } = gateway;
      gateway = await startGateway({ ...optionsOf(storageUrl), folder });
    },
    /** A second process on the same storage; undefined on SQLite, which serves one. */
    startSecond: async () => (engine === "Postgres" ? startGateway(optionsOf(gateway.storageUrl)) : undefined),
  };
}
