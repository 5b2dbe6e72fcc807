import { SessionLimit } from "../../../src/auth/index.ts";
import {
  GatewayError,
  HandshakeRefused,
  type Sending,
  type Socket,
  type SocketHandler,
} from "../../../src/core/index.ts";
import { PriceBook } from "../../../src/pricing/index.ts";
import { createProvider } from "../../../src/providers/index.ts";
import { RealtimeSessions } from "../../../src/realtime/index.ts";
import { BusyTargets, KeyPool, ModelRouter, type UpstreamRoute } from "../../../src/routing/index.ts";
import type { Node } from "../kit/node.ts";
import { codeOf, type World } from "../kit/world.ts";
import type { Actor } from "./actor.ts";
import { ACTIVE_RESPONSE, readEvent, SessionUpstream } from "./session-upstream.ts";

/** Nano-credits for a token of output, of text as of audio. */
const OUTPUT_NANO = 64_000;

/** A response is stopped with so much of its hold left for what is under way, and its cost is looked at that often. */
const UNREAD_TOKENS = 600;
const COMPARED_TOKENS = 64;

/** Messages that the network takes of a client that does not read. */
const BACKLOG_MAX = 3;

/** Messages of a crowd that the gateway may keep back: what a paused upstream still sends, and what is written together. */
const KEPT_MAX = 200;

/** Of both sides of the socket, without a network. */
const provider = createProvider({ kind: "openai", baseUrl: "https://upstream.example/v1" });
const principal = {
  tokenId: "t",
  user: "u",
  service: false,
  role: "member" as const,
  models: undefined,
  rates: undefined,
  expiresAt: undefined,
};
const price = {
  input_mtok: 4,
  cache_read_mtok: 1,
  input_audio_mtok: 32,
  cache_audio_read_mtok: 2,
  output_mtok: OUTPUT_NANO / 1_000,
  output_audio_mtok: OUTPUT_NANO / 1_000,
  context_window: 32_000,
  max_output_tokens: 300,
};
const prices = { "openai/*": price, "other/*": price };

/** A realtime session between a simulated client and a simulated upstream. */
export class SessionCall implements Actor, Socket {
  readonly id: string;
  readonly #world: World;
  readonly #node: Node;
  readonly #upstream: SessionUpstream;
  readonly #over = Promise.withResolvers<void>();
  #handler: SocketHandler | undefined;
  #isClosed = false;
  /** Whether the gateway reads the client's messages. */
  #isRead = true;
  /** The client's messages that the gateway has not read. */
  readonly #unread: string[] = [];
  /** Messages that the client has not taken yet. */
  #backlog = 0;
  /** Messages of the upstream that the gateway has received, less those that it has passed on. */
  #kept = 0;
  /** The responses that have begun, in their order, with the tokens that have passed. */
  readonly #passed = new Map<string, number>();
  /** The works of those that are complete for the client. */
  readonly #done = new Set<string>();
  #isForwarded = true;
  /** The gateway ends the session: what still arrives is only read. */
  #isEnding = false;

  constructor(world: World, node: Node, id: string) {
    this.id = id;
    this.#world = world;
    this.#node = node;
    this.#upstream = new SessionUpstream({
      world,
      node,
      id,
      onDelivered: (message) => this.#onDelivered(message),
      onReceived: (type) => {
        if (type === "response.cancel") this.#isEnding = true;
        this.#isForwarded = true;
        this.#endSpan("cover");
      },
      onPause: () => this.#onUpstreamPaused(),
      onResume: () => this.#endSpan("held back"),
    });
  }

  async run(): Promise<void> {
    const { meetings, account: accountId } = this.#world;
    meetings.begin(this.id, "opening");
    const caller = { ...principal, accountId };
    try {
      const opened = await this.#sessions().open({
        requestId: this.id,
        request: new Request("https://gateway.example/v1/realtime?model=openai/m", {
          headers: { "x-tollgate-fallback": "openai/second, other/m" },
        }),
        caller: { principal: caller, grant: undefined, protocol: undefined, recheck: async () => caller },
      });
      if (opened instanceof Response) return;
      this.#handler = opened.socket;
    } catch (thrown) {
      this.#world.expect(thrown instanceof GatewayError, () => `${this.id}: ${String(thrown)}`);
      return;
    } finally {
      meetings.end(this.id, "opening");
    }
    await this.#handler.open(this);
    this.#planClient();
    this.#planUpstream();
    await this.#over.promise;
  }

  #sessions(): RealtimeSessions {
    const { deps, ticker } = this.#node;
    const { clock } = deps;
    const { random } = this.#world;
    let refusals = random.pick([0, 0, 0, 0, 1, 1, 2, 3]);
    const routeAt = (prefix: string): UpstreamRoute => ({
      prefix,
      aliases: [],
      provider,
      baseUrl: "https://upstream.example/v1",
      keys: new KeyPool(["sk-simulated"], clock),
      sandbox: false,
      sharedStores: false,
      listing: { listed: [] },
      requiredVariable: undefined,
    });
    return new RealtimeSessions({
      environment: {
        clock,
        randomBytes: (size) => random.bytes(size),
        randomFraction: () => random.next(),
        fetch: () => Promise.reject(new Error("no network")),
        ask: () => Promise.reject(new Error("no network")),
        openSocket: async () => {
          await this.#node.sleep(random.int(1, 50));
          if (refusals === 0) return this.#upstream;
          refusals -= 1;
          this.#world.meetings.happen(this.id, "upstream break");
          throw new HandshakeRefused(random.pick([429, 503, 500]));
        },
      },
      work: deps,
      send: {
        retries: 0,
        retryAfterMsMax: 0,
        connectMsMax: 1_000,
        firstByteMsMax: 1_000,
        idleMsMax: 1_000,
        totalMsMax: 1_000,
      },
      observer: {},
      ticker,
      router: new ModelRouter(
        [routeAt("openai"), routeAt("other")],
        new PriceBook({ operatorPrices: prices, unpriced: "refuse", clock: () => 0 }),
      ),
      circuits: undefined,
      busy: new BusyTargets(),
      routeLimits: {
        attempts: 4,
        deadlineMs: 1_000,
        attemptMsMax: 1_000,
        wholeMsMax: 1_000,
        headMsMax: 1_000,
        commit: undefined,
      },
      clientSecrets: {
        insert: async () => undefined,
        find: async () => undefined,
        deleteExpired: async () => undefined,
      },
      limit: new SessionLimit(10),
      openSessions: { enter: () => () => undefined },
      bounds: {
        sessionMsMax: 60_000,
        idleMsMax: 30_000,
        stalledMsMax: 12_000,
        messagesPerSecondMax: 1_000,
        connectMsMax: 1_000,
      },
    });
  }

  #planClient(): void {
    const { random } = this.#world;
    let at = 0;
    for (let turn = random.int(1, 8); turn > 0; turn -= 1) {
      at += random.int(50, 4_000);
      const bytes = random.pick([20, 200, 6_000, 20_000]);
      const text = "x".repeat(bytes);
      const item = { type: "message", role: "user", content: [{ type: "input_text", text }] };
      this.#node.after(at, () => this.#say({ type: "conversation.item.create", item }));
      const event = { type: "response.create", event_id: `e${turn}` };
      this.#node.after(at + random.int(0, 30), () => this.#say(event));
      if (random.chance(0.3)) this.#node.after(at + random.int(0, 2_000), () => this.pauseClient());
    }
    this.#node.after(at + random.int(0, 6_000), () => this.#leave(1000));
  }

  #planUpstream(): void {
    const { random } = this.#world;
    for (let times = random.int(0, 2); times > 0; times -= 1) {
      this.#node.after(random.int(0, 10_000), () => this.#upstream.beginByItself());
    }
    if (!random.chance(0.3)) return;
    const isBreak = random.chance(0.5);
    this.#node.after(random.int(100, 12_000), () => {
      if (isBreak) this.breakOff();
      else this.#endUpstream();
    });
  }

  #endUpstream(): void {
    if (this.#isClosed) return;
    this.#world.meetings.happen(this.id, "upstream end");
    this.#upstream.end(1000);
  }

  breakOff(): void {
    if (this.#isClosed || this.#handler === undefined) return;
    this.#world.meetings.happen(this.id, "upstream break");
    this.#upstream.end(1006);
  }

  /** The client sends an event. */
  #say(event: object): void {
    if (this.#isClosed) return;
    this.#unread.push(JSON.stringify(event));
    this.#readClient();
  }

  #readClient(): void {
    while (this.#isRead && !this.#isClosed) {
      const next = this.#unread.shift();
      if (next === undefined) return;
      this.#world.meetings.happen(this.id, "client message");
      this.#isForwarded = false;
      void this.#handler?.message(next);
      if (!this.#isForwarded) this.#beginSpan("cover");
    }
  }

  pauseClient(): void {
    const { meetings, random } = this.#world;
    if (this.#isClosed || this.#handler === undefined || meetings.isOpen(this.id, "client pause")) return;
    meetings.begin(this.id, "client pause");
    this.#node.after(random.int(1, random.pick([50, 500, 5_000, 20_000])), () => {
      meetings.end(this.id, "client pause");
      if (this.#isClosed || this.#backlog === 0) return;
      this.#backlog = 0;
      meetings.happen(this.id, "client drain");
      void this.#handler?.drain?.();
    });
  }

  #onDelivered(message: string): void {
    if (this.#isClosed) return;
    const { type, response } = readEvent(message);
    this.#kept += 1;
    const isBounded = this.#kept <= KEPT_MAX || this.#isEnding;
    this.#world.expect(isBounded, () => `${this.id}: ${this.#kept} messages wait for the client`);
    // Its beginning may not have been announced.
    if (response !== undefined && !this.#passed.has(response)) this.#passed.set(response, 0);
    if (type !== "response.done") return;
    this.#beginSpan("withheld");
    const { random } = this.#world;
    if (random.chance(0.06)) this.#node.after(random.int(0, 5), () => this.#endUpstream());
  }

  #onUpstreamPaused(): void {
    const { meetings } = this.#world;
    const isStalled = this.#backlog > BACKLOG_MAX;
    if (isStalled || meetings.isOpen(this.id, "withheld")) return;
    this.#beginSpan("held back");
    if (!this.#world.random.chance(0.4)) return;
    // Its client falls behind in the same moment.
    this.pauseClient();
    this.#backlog = BACKLOG_MAX;
  }

  #beginSpan(span: "held back" | "cover" | "withheld"): void {
    const { meetings } = this.#world;
    if (!meetings.isOpen(this.id, span)) meetings.begin(this.id, span);
  }

  #endSpan(span: "held back" | "cover" | "withheld"): void {
    const { meetings } = this.#world;
    if (meetings.isOpen(this.id, span)) meetings.end(this.id, span);
  }

  /** The gateway sends a message to the client. */
  send(message: string | Uint8Array): Sending {
    if (this.#isClosed) return "lost";
    this.#kept = Math.max(this.#kept - 1, 0);
    const event = readEvent(String(message));
    if (event.type === "error" && !String(message).includes(ACTIVE_RESPONSE)) this.#isEnding = true;
    this.#judge(event);
    if (!this.#world.meetings.isOpen(this.id, "client pause")) return "sent";
    this.#backlog += 1;
    return this.#backlog > BACKLOG_MAX ? "waiting" : "sent";
  }

  #judge({ type, response, tokens }: ReturnType<typeof readEvent>): void {
    this.#world.trace(`${this.id}: the client gets ${type} ${response ?? ""}`);
    if (response === undefined) return;
    // One is held for what the upstream begins by itself, one for what it is asked for: either may come first.
    const works = this.#world.worksIn(this.id).filter((id) => !this.#done.has(id));
    if (works.length === 0) return;
    const passed = this.#passed.get(response) ?? 0;
    if (tokens > 0) this.#checkPassing(works, passed);
    this.#passed.set(response, passed + tokens);
    if (type !== "response.done") return;
    this.#endSpan("withheld");
    const charged = works.find((id) => this.#node.isDurable(id) && (this.#world.know(id).cost ?? 0n) > 0n);
    if (charged !== undefined) this.#done.add(charged);
    else this.#world.find(`${this.id}: ${response} is complete for its client before it was charged`);
  }

  #checkPassing(works: readonly string[], tokens: number): void {
    const isCovered = (id: string): boolean => this.#costBefore(id, tokens) < this.#world.know(id).held;
    // The first one is as good as any to name.
    const work = works.find(isCovered) ?? works[0];
    if (work !== undefined) this.#world.checkPassing(work, this.#costBefore(work, tokens));
  }

  /** What must be held before more passes: with what the upstream may still send, less what passes between two looks. */
  #costBefore(work: string, tokens: number): bigint {
    const { held } = this.#world.know(work);
    const unread = BigInt(UNREAD_TOKENS * OUTPUT_NANO);
    const reserve = unread < held / 4n ? unread : held / 4n;
    return BigInt((tokens - COMPARED_TOKENS) * OUTPUT_NANO) + reserve;
  }

  cork(run: () => void): void {
    run();
  }

  ping(): void {
    // The client answers in time.
  }

  pause(): void {
    this.#isRead = false;
  }

  resume(): void {
    this.#isRead = true;
    // In a turn of its own, as a socket does.
    this.#node.after(0, () => this.#readClient());
  }

  close(code: number): void {
    this.#node.after(1, () => this.#leave(code));
  }

  terminate(): void {
    this.#node.after(1, () => this.#leave(1006));
  }

  /** The client's socket has closed. */
  #leave(code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#world.trace(`${this.id}: the client's socket closes with ${code}`);
    Promise.resolve(this.#handler?.close(code, ""))
      .catch((reason: unknown) => this.#world.find(`${this.id}: ${codeOf(reason)}`))
      .finally(() => {
        this.#checkPaid();
        for (const span of ["held back", "cover", "withheld"] as const) this.#endSpan(span);
        this.#over.resolve();
      });
  }

  /** What its upstream was asked for is paid, however the session ends, unless the upstream has left it. */
  #checkPaid(): void {
    const { owed, hasLeft } = this.#upstream;
    const paid = this.#world.worksIn(this.id).filter((id) => (this.#world.know(id).cost ?? 0n) > 0n).length;
    const isPaid = hasLeft || paid >= owed;
    this.#world.expect(isPaid, () => `${this.id}: ${owed} responses were asked for, and ${paid} paid`);
  }

  hangUp(): void {
    if (this.#isClosed || this.#handler === undefined) return;
    this.#world.meetings.happen(this.id, "hang-up");
    this.#leave(1006);
  }

  drain(): void {
    this.#world.meetings.happen(this.id, "drain");
    this.#handler?.shutdown?.();
  }
}
