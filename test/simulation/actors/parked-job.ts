import { openWork, type ParkedWork, keepAnswer, resumeWork, Work, type WorkOrder } from "../../../src/charges/index.ts";
import { GatewayError, type ObservedUsage } from "../../../src/core/index.ts";
import type { Node } from "../kit/node.ts";
import { codeOf, type World } from "../kit/world.ts";
import type { Actor } from "./actor.ts";

/** The answer that is stored for the retry key of a job. */
export const createdText = "created";

/** Work that is begun by a call and handed over to a job, which runs on one node after the other. */
export class ParkedJob implements Actor {
  readonly id: string;
  readonly #world: World;
  /** It pays from the first request on, wherever its user moves. */
  #accountId: string | undefined;
  readonly #nodes: readonly [Node, ...Node[]];
  readonly #node: Node;
  readonly #retry: WorkOrder["retry"];
  #tokens = 0;
  #isExhausted = false;
  #isStopping = false;
  /** The contents of the job's row. */
  #parked: ParkedWork | undefined;

  /** Begun on the first node, and continued on any. */
  constructor(
    world: World,
    nodes: readonly [Node, ...Node[]],
    { id, retry }: { id: string; retry: WorkOrder["retry"] },
  ) {
    this.id = id;
    this.#world = world;
    this.#nodes = nodes;
    this.#node = nodes[0];
    this.#retry = retry;
  }

  async run(): Promise<void> {
    const { meetings, random } = this.#world;
    let work: Awaited<ReturnType<typeof openWork>>;
    meetings.begin(this.id, "opening");
    try {
      work = await openWork(this.#node.deps, this.#order());
    } catch (thrown) {
      this.#world.expect(thrown instanceof GatewayError, () => `${this.id}: ${String(thrown)}`);
      return;
    } finally {
      meetings.end(this.id, "opening");
    }
    if (!(work instanceof Work)) return;
    this.#meter(work);
    await this.#perform(work, this.#node, random.int(0, 12));
    if (this.#isExhausted || this.#isStopping) {
      await work.end({ status: 402, outcome: "interrupted", observed: this.#usage });
      return;
    }
    const isGiven = await this.#giveAway(work);
    if (!isGiven) return this.#giveUp();
    await this.#runJob();
  }

  #order(provider: "up" | "dear" = "up"): WorkOrder {
    const { random, price, dearPrice, time } = this.#world;
    return {
      id: this.id,
      principal: { user: "u", tokenId: "t", accountId: (this.#accountId ??= this.#world.account), rates: undefined },
      operation: "chat",
      dialect: undefined,
      source: { provider, model: "m", modelId: `${provider}/m` },
      price: provider === "dear" ? dearPrice : price,
      bound: { inputTokens: random.int(1, 200), isGrowing: true, outputTokens: random.int(100, 500), choices: 1 },
      streamed: false,
      retry: this.#retry,
      at: time.now,
    };
  }

  get #usage(): ObservedUsage {
    return { usage: { output: this.#tokens, requests: 1 } };
  }

  #meter(work: Work): void {
    work.meter(
      () => {
        this.#world.countCall();
        return this.#usage;
      },
      () => {
        this.#world.meetings.happen(this.id, "exhaustion");
        this.#isExhausted = true;
      },
    );
  }

  /** Uses some tokens in each step, as far as the hold covers them. */
  async #perform(work: Work, node: Node, steps: number): Promise<void> {
    const { random, meetings } = this.#world;
    for (let step = 0; step < steps && !this.#isStopping; step += 1) {
      await node.sleep(random.int(1, 1_500));
      let raised = work.keepUp();
      if (raised !== undefined) meetings.begin(this.id, "held back");
      const wasHeldBack = raised !== undefined;
      while (raised !== undefined && !this.#isExhausted) {
        await raised;
        await node.sleep(0);
        raised = work.keepUp();
      }
      if (wasHeldBack) meetings.end(this.id, "held back");
      if (this.#isExhausted) return;
      // The hold of a job that has expired is charged in full; the end corrects it.
      const { expired } = this.#world.know(this.id);
      if (expired.size === 0) this.#world.checkPassing(this.id, work.costOf(this.#usage));
      this.#tokens += random.int(1, 60);
    }
  }

  /** Returns whether the job has the work. */
  async #giveAway(work: Work): Promise<boolean> {
    const { random, time, meetings } = this.#world;
    const until = time.now + random.pick([40_000, 600_000, 600_000, 600_000]);
    const endsMeanwhile = random.chance(0.1);
    meetings.begin(this.id, "hand-over");
    const given = random.chance(0.6) ? this.#park(work, until) : this.#handOver(work, until);
    const ending = endsMeanwhile ? work.end({ status: 499, outcome: "abandoned", observed: this.#usage }) : undefined;
    try {
      await given;
      return true;
    } catch (thrown) {
      this.#world.trace(`${this.id}: not handed over, ${codeOf(thrown)}`);
      await work.end({ status: 503, outcome: "interrupted" });
      return false;
    } finally {
      meetings.end(this.id, "hand-over");
      await ending;
    }
  }

  #park(work: Work, until: number): Promise<void> {
    const { now } = this.#world.time;
    return work.park(until, (parked) => {
      this.#parked = parked;
      return { id: this.id, kind: "simulated", owner: "u", payload: {}, runAt: now, createdAt: now };
    });
  }

  #handOver(work: Work, until: number): Promise<void> {
    const { random } = this.#world;
    return work.handOver(until, async (parked) => {
      await this.#node.sleep(random.int(0, 400));
      if (random.chance(0.15)) throw new Error("the job's row could not be stored");
      this.#parked = parked;
    });
  }

  /** A row whose creator does not know of it: the job finds that nothing was begun, and ends without a charge. */
  async #giveUp(): Promise<void> {
    const parked = this.#parked;
    if (!this.#world.know(this.id).isParked || parked === undefined) return;
    this.#world.know(this.id).endsTwice = true;
    await this.#node.sleep(5_000);
    const work = resumeWork(this.#otherNode().deps, parked);
    await work.end({ status: 503, outcome: "interrupted" });
  }

  #otherNode(): Node {
    return this.#world.random.pick(this.#nodes);
  }

  async #runJob(): Promise<void> {
    const { random, meetings } = this.#world;
    const parked = this.#parked;
    if (parked === undefined) return this.#world.find(`${this.id}: handed over without its data`);
    let node = this.#node;
    const hasTarget = this.#tokens > 0 || (await this.#moveOn(parked));
    if (!hasTarget) return;
    if (random.chance(0.5)) await this.#keepAnswer(this.#parked ?? parked);
    for (let run = random.int(1, 3); ; run -= 1) {
      await node.sleep(random.int(0, 3_000));
      node = this.#otherNode();
      const { held } = this.#world.know(this.id);
      const row = this.#parked ?? parked;
      const work = resumeWork(node.deps, row);
      // Another run may have raised the hold: this one begins with the amount of the row.
      this.#world.know(this.id).held = BigInt(row.held);
      this.#isExhausted = false;
      this.#isStopping = false;
      this.#meter(work);
      meetings.begin(this.id, "job");
      await this.#perform(work, node, random.int(0, 8));
      meetings.end(this.id, "job");
      if (run > 1 && !this.#isExhausted) {
        work.leave();
        this.#world.know(this.id).held = held;
        continue;
      }
      await work.end({ status: 200, outcome: "complete", observed: this.#usage });
      return;
    }
  }

  /**
   * Targets that fail before any has the job, each followed by another one: the hold moves, then the row. Resolves with whether a target has
   * the job in the end; if not, the work has ended, as when a process dies in between.
   */
  async #moveOn(parked: ParkedWork): Promise<boolean> {
    const { meetings, random } = this.#world;
    const work = resumeWork(this.#node.deps, parked);
    for (let targets = random.pick([0, 0, 0, 1, 2]); targets > 0; targets -= 1) {
      meetings.begin(this.id, "job");
      await this.#node.sleep(random.pick([1, 200, 5_000]));
      meetings.begin(this.id, "move");
      try {
        const moved = await work.moveTo(this.#order(random.chance(0.7) ? "dear" : "up"));
        this.#world.trace(`${this.id}: ${moved}`);
      } catch (thrown) {
        this.#world.trace(`${this.id}: not moved, ${codeOf(thrown)}`);
        await work.end({ status: 503, outcome: "failed" });
        return false;
      } finally {
        meetings.end(this.id, "move");
        meetings.end(this.id, "job");
      }
      if (random.chance(0.3)) return this.#endOnOther(work);
      this.#parked = work.parked();
    }
    work.leave();
    return true;
  }

  /** The process dies after the hold has moved, and before the row has: another one ends the work. */
  async #endOnOther(work: Work): Promise<false> {
    const { random } = this.#world;
    const row = random.chance(0.5) ? this.#parked : work.parked();
    work.leave();
    await this.#node.sleep(random.int(1_000, 60_000));
    if (row !== undefined) await resumeWork(this.#otherNode().deps, row).end({ status: 503, outcome: "failed" });
    return false;
  }

  async #keepAnswer(parked: ParkedWork): Promise<void> {
    const answer = { status: 200, headers: [], body: Buffer.from(createdText) };
    await keepAnswer(this.#node.deps, parked, answer).catch((reason: unknown) =>
      this.#world.trace(`${this.id}: no answer kept, ${codeOf(reason)}`),
    );
  }

  hangUp(): void {
    // A job has no client.
  }

  pauseClient(): void {
    // A job has no client.
  }

  breakOff(): void {
    // Nor an upstream of its own here.
  }

  drain(): void {
    this.#world.meetings.happen(this.id, "drain");
    this.#isStopping = true;
  }
}
