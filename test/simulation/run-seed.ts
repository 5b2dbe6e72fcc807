/** Runs one seed: what happens and when is drawn from it, then everything must end and the books must balance. */
import type { Actor } from "./actors/actor.ts";
import { ParkedJob } from "./actors/parked-job.ts";
import { SessionCall } from "./actors/session-call.ts";
import { StreamCall, type StreamPlan } from "./actors/stream-call.ts";
import { WholeCall } from "./actors/whole-call.ts";
import { checkBooks } from "./kit/books.ts";
import { Node } from "./kit/node.ts";
import type { Span } from "./kit/meetings.ts";
import { planWeather } from "./kit/weather.ts";
import { type Template, World } from "./kit/world.ts";

/** Until when the store misbehaves, clients leave and nodes stop; everything must end within the second time. */
const RESTLESS_MS = 90_000;
const ENDED_MS_MAX = 1_200_000;

/** After this share of the events, the simulation waits until nothing moves. */
const RESTS = 0.1;
/** So many turns of the event loop without a call of the injected parts are rest; the ledger gathers for eight. */
const QUIET_TURNS = 10;
const TURNS_MAX = 500;

/** More events at one time of the clock mean that something plans itself again for the same moment. */
const EVENTS_AT_ONCE_MAX = 10_000;

/** Spans that are short or rare, and so are troubled more often. */
const shortSpans: ReadonlySet<Span> = new Set<Span>(["withheld", "cover", "job", "renewal"]);

export interface SeedOptions {
  seed: number;
  template: Template;
  onTrace?: ((line: string) => void) | undefined;
  onSpin: (reason: string) => never;
}

export interface SeedResult {
  traceHash: number;
  /** How often each pair of events met. */
  meetings: ReadonlyMap<string, number>;
  /** The fault; undefined if there is none. */
  finding: string | undefined;
}

export async function runSeed({ seed, template, onTrace, onSpin }: SeedOptions): Promise<SeedResult> {
  const tickMs = [100, 250, 1_000][seed % 3] ?? 250;
  // Works hold 0.2 to 5 million; a few have almost nothing left to raise their holds with.
  const isOfSessions = seed % 10 < 3;
  // A response of a session holds 45 million.
  const some = isOfSessions ? [80_000_000n, 150_000_000n, 400_000_000n] : [2_000_000n, 8_000_000n, 40_000_000n];
  const credits = [...some, 100_000_000_000n][seed % 4] ?? 0n;
  const world = new World({ seed, credits, tickMs, template, onTrace, onSpin });
  try {
    await world.open();
    planWeather(world, RESTLESS_MS);
    const run = new Run(world, isOfSessions);
    await run.toEnd();
    run.stop();
    await checkBooks(world);
  } catch (thrown) {
    world.find(thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown));
  } finally {
    world.close();
  }
  const { traceHash, meetings, finding } = world;
  return { traceHash, meetings: meetings.counts, finding };
}

class Run {
  readonly #world: World;
  readonly #nodes: readonly [Node, Node];
  /** The work that has begun and not ended. */
  readonly #running = new Set<Actor>();
  #planned = 0;

  constructor(world: World, isOfSessions: boolean) {
    this.#world = world;
    const [a, b] = (this.#nodes = [new Node(world, "a"), new Node(world, "b")]);
    const { random, time } = world;
    const count = random.int(1, 5);
    const hasKey = random.chance(0.4) && !world.mayMove;
    const key = hasKey ? { key: "key", fingerprint: "f" } : undefined;
    for (let index = 0; index < count; index += 1) {
      const nodes = random.pick([[a, b] as const, [a, b] as const, [b, a] as const]);
      const plan = { id: `w${index}`, retry: random.chance(0.7) ? key : undefined };
      world.know(plan.id);
      const kind = random.weighted({ session: isOfSessions ? 6 : 0, stream: 5, job: isOfSessions ? 0 : 2, whole: 2 });
      const actor = { session: newSession, stream: newStream, job: newJob, whole: newWhole }[kind](world, nodes, plan);
      this.#plan(actor, random.int(0, 20_000));
    }
    if (random.chance(0.15)) {
      const node = random.pick(this.#nodes);
      time.after(random.int(500, 15_000), () => node.pause(random.int(60_000, 200_000)));
    }
    if (random.chance(0.2)) time.after(random.int(500, 30_000), () => this.#drain());
    const troubles = random.pick([0, 0.01, 0.03, 0.1]);
    world.onBegin = (subject, span) => {
      if (random.chance(shortSpans.has(span) ? Math.max(10 * troubles, 0.3) : troubles)) this.#trouble(subject);
    };
  }

  /** Something has begun: it is met by what would rarely meet it by chance. */
  #trouble(subject: string): void {
    const { random, time } = this.#world;
    const actor = [...this.#running].find(({ id }) => id === subject);
    const trouble = random.weighted({ "hang-up": 6, "client pause": 6, break: 3, stop: 2, drain: 2 });
    time.after(random.int(0, random.pick([1, 10, 300])), () => {
      if (trouble === "hang-up") actor?.hangUp();
      else if (trouble === "client pause") actor?.pauseClient();
      else if (trouble === "break") actor?.breakOff();
      else if (trouble === "stop") random.pick(this.#nodes).pause(random.int(60_000, 200_000));
      else this.#drain();
    });
  }

  #plan(actor: Actor, at: number): void {
    const { random, time, meetings } = this.#world;
    this.#planned += 1;
    time.after(at, () => {
      this.#planned -= 1;
      this.#running.add(actor);
      if (actor.id !== "w0")
        for (const other of this.#running) if (other !== actor) meetings.happen(other.id, "repeat");
      void actor
        .run()
        .catch((reason: unknown) => this.#world.find(`${actor.id}: ${String(reason)}`))
        .finally(() => {
          this.#world.trace(`${actor.id}: over`);
          this.#running.delete(actor);
        });
    });
    if (random.chance(0.35)) time.after(at + random.int(0, 15_000), () => actor.hangUp());
  }

  #drain(): void {
    this.#world.trace("the gateway stops");
    for (const actor of this.#running) actor.drain();
  }

  stop(): void {
    for (const node of this.#nodes) node.stop();
  }

  async toEnd(): Promise<void> {
    const world = this.#world;
    const { time, random } = world;
    const deadline = time.now + ENDED_MS_MAX;
    let [moment, atOnce] = [time.now, 0];
    while (!this.#isOver && world.finding === undefined) {
      const run = time.next();
      if (run === undefined || time.now > deadline) {
        const names = [...this.#running].map(({ id }) => id).join(", ");
        return world.find(`not ended: ${names}; left on ${this.#nodes.map(({ left }) => left).join("; ")}`);
      }
      atOnce = time.now === moment ? atOnce + 1 : 0;
      moment = time.now;
      if (atOnce > EVENTS_AT_ONCE_MAX) return world.find("it never comes to rest: time stands still");
      world.beginEvent();
      run();
      if (random.chance(RESTS)) await this.#rest();
      else for (let turns = random.int(1, 4); turns > 0; turns -= 1) await turn();
    }
  }

  /** Between two events of the clock, everything comes to rest: nothing asks again and again in the same moment. */
  async #rest(): Promise<void> {
    let calls = this.#world.calls;
    let quiet = 0;
    for (let turns = 0; quiet < QUIET_TURNS; turns += 1) {
      if (turns > TURNS_MAX) return this.#world.find("it never comes to rest: something asks again every turn");
      await turn();
      quiet = calls === this.#world.calls ? quiet + 1 : 0;
      ({ calls } = this.#world);
    }
  }

  get #isOver(): boolean {
    return this.#planned === 0 && this.#running.size === 0 && this.#nodes.every((node) => node.isSettled);
  }
}

type NewActor = (world: World, nodes: readonly [Node, Node], plan: StreamPlan) => Actor;

const newSession: NewActor = (world, [node], { id }) => new SessionCall(world, node, id);
const newStream: NewActor = (world, [node], plan) => new StreamCall(world, node, plan);
const newJob: NewActor = (world, nodes, plan) => new ParkedJob(world, nodes, plan);
// Its key has the fingerprint of its own body: that of a stream would be refused.
const newWhole: NewActor = (world, [node], { id, retry }) => new WholeCall(world, node, { id, key: retry && "whole" });

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
