import { describe, expect, test } from "bun:test";
import { FairQueue, type QueuedTask } from "./fair-queue.ts";

interface Task extends QueuedTask {
  name: string;
}

function taskOf(owner: string, name: string, upstream?: string): Task {
  return { owner, name, upstream };
}

function namesTaken(queue: FairQueue<Task>): string[] {
  const names: string[] = [];
  for (let next = queue.take(); next !== undefined; next = queue.take()) names.push(next.name);
  return names;
}

describe("places", () => {
  test.each([
    [1, ["a1"], ["b1"]],
    [2, ["a1"], ["b1"]],
    [3, ["a1", "a2"], ["b1"]],
    [4, ["a1", "a2", "a3"], ["b1"]],
    [8, ["a1", "a2", "a3", "a4", "a5", "a6", "a7"], ["b1"]],
  ])("of %d, the last one is left to whoever runs nothing", (places, alone, beside) => {
    const queue = new FairQueue<Task>({ places });
    for (let at = 1; at <= 20; at += 1) queue.add(taskOf("a", `a${at}`));
    expect(namesTaken(queue)).toEqual(alone);
    queue.add(taskOf("b", "b1"));
    queue.add(taskOf("b", "b2"));
    expect(namesTaken(queue)).toEqual(places === 1 ? [] : beside);
  });

  test("beside others that wait, an owner runs in three quarters of them", () => {
    const queue = new FairQueue<Task>({ places: 8 });
    for (let at = 1; at <= 9; at += 1) queue.add(taskOf("a", `a${at}`));
    queue.add(taskOf("b", "b1"));
    queue.add(taskOf("b", "b2"));
    queue.add(taskOf("b", "b3"));
    const taken = namesTaken(queue);
    expect(taken.toSorted()).toEqual(["a1", "a2", "a3", "a4", "b1", "b2", "b3"]);
  });

  test("are given in turns, to the owner that was served longest ago first", () => {
    const queue = new FairQueue<Task>({ places: 1 });
    for (const name of ["a1", "a2", "a3"]) queue.add(taskOf("a", name));
    queue.add(taskOf("b", "b1"));
    queue.add(taskOf("c", "c1"));
    queue.add(taskOf("b", "b2"));
    const order: string[] = [];
    for (let next = queue.take(); next !== undefined; next = queue.take()) {
      order.push(next.name);
      queue.end(next);
    }
    expect(order).toEqual(["a1", "b1", "c1", "a2", "b2", "a3"]);
  });

  test("keep two free of one upstream: for an idle owner, and for an idle upstream", () => {
    const queue = new FairQueue<Task>({ places: 8 });
    for (let at = 1; at <= 9; at += 1) queue.add(taskOf("a", `a${at}`, "hangs"));
    expect(namesTaken(queue)).toHaveLength(6);
    queue.add(taskOf("b", "b1", "hangs"));
    queue.add(taskOf("c", "c1", "other"));
    expect(namesTaken(queue)).toEqual(["b1", "c1"]);
  });

  test("for an upstream that hangs are one an owner, and a quarter of them all", () => {
    const queue = new FairQueue<Task>({ places: 8, isHanging: (upstream) => upstream === "hangs" });
    for (const owner of ["a", "b", "c"]) {
      queue.add(taskOf(owner, `${owner}1`, "hangs"));
      queue.add(taskOf(owner, `${owner}2`, "hangs"));
    }
    queue.add(taskOf("c", "c3", "other"));
    expect(namesTaken(queue)).toEqual(["a1", "b1", "c3"]);
  });
});

test("of the tasks that wait, an owner has a bounded number, and they can be removed", () => {
  const queue = new FairQueue<Task>({ places: 1, waitingPerOwnerMax: 2 });
  const [one, other, third] = [taskOf("a", "a1"), taskOf("a", "a2"), taskOf("a", "a3")];
  expect([queue.add(one), queue.add(other), queue.add(third)]).toEqual([true, true, false]);
  expect(queue.add(taskOf("b", "b1"))).toBe(true);
  expect([queue.remove(other), queue.remove(other)]).toEqual([true, false]);
  expect(queue.add(third)).toBe(true);
  expect(queue.clear().map(({ name }) => name)).toEqual(["a1", "a3", "b1"]);
  expect(queue.take()).toBeUndefined();
});

/** Pseudo-random numbers from a seed, evenly spread in [0, 1). */
function randomOf(seed: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
}

interface SimulatedTask extends Task {
  steps: number;
}

/** Owners that add tasks at random, and one that always adds as many as it may. Throws if a rule is broken. */
class Simulation {
  readonly #random: () => number;
  readonly #queue: FairQueue<SimulatedTask>;
  readonly #places: number;
  readonly #upstreams: number;
  readonly #hanging: boolean;
  readonly #running = new Map<SimulatedTask, number>();
  readonly #waiting = new Set<SimulatedTask>();
  /** By owner: how often others were served while it waited and ran nothing. */
  readonly #served = new Map<string, Map<string, number>>();
  ended = 0;

  constructor(seed: number) {
    this.#random = randomOf(seed);
    this.#places = 1 + this.#below(12);
    this.#upstreams = this.#below(3);
    this.#hanging = this.#random() < 0.3;
    this.#queue = new FairQueue({ places: this.#places, isHanging: (name) => this.#hanging && name === "up0" });
  }

  run(steps: number): void {
    const owners = 1 + this.#below(6);
    for (let step = 0; step < steps; step += 1) {
      while (this.#add("hostile", 40));
      for (let owner = 0; owner < owners; owner += 1) if (this.#random() < 0.2) this.#add(`user${owner}`, 3);
      this.#step();
    }
    for (let step = 0; this.#waiting.size + this.#running.size > 0; step += 1) {
      if (step > 100_000) throw new Error(`${this.#waiting.size} tasks wait for ever`);
      this.#step();
    }
  }

  #below(most: number): number {
    return Math.floor(this.#random() * most);
  }

  #add(owner: string, stepsMax: number): boolean {
    const upstream = this.#upstreams === 0 ? undefined : `up${this.#below(this.#upstreams)}`;
    const task = { owner, upstream, name: "", steps: 1 + this.#below(stepsMax) };
    if (!this.#queue.add(task)) return false;
    this.#waiting.add(task);
    return true;
  }

  #step(): void {
    for (let next = this.#queue.take(); next !== undefined; next = this.#queue.take()) this.#start(next);
    if (this.#waiting.size > 0 && this.#running.size === 0) throw new Error("places are free and tasks wait");
    if (this.#upstreams === 0) this.#expectNoIdleOwnerWaits();
    for (const [task, left] of this.#running) {
      if (left > 1) this.#running.set(task, left - 1);
      else {
        this.#running.delete(task);
        this.#queue.end(task);
        this.ended += 1;
      }
    }
  }

  #expectNoIdleOwnerWaits(): void {
    const waits = [...this.#waiting].some(({ owner }) => this.#ownedBy(owner) === 0);
    if (waits && this.#running.size < this.#places) throw new Error("an idle owner waits, and a place is free");
  }

  #start(task: SimulatedTask): void {
    const { owner } = task;
    const others = [...this.#waiting].some((each) => each.owner !== owner);
    const owned = this.#ownedBy(owner);
    if (!this.#waiting.delete(task)) throw new Error("a task was taken twice");
    if (this.#running.size >= this.#places) throw new Error("more tasks than places");
    if (owned > 0 && this.#running.size === this.#places - 1) throw new Error("the last place went to a busy owner");
    if (others && owned > 0 && owned + 1 > this.#places * 0.75) throw new Error("an owner has too many places");
    this.#served.delete(owner);
    if (this.#upstreams === 0) this.#count(owner);
    this.#running.set(task, task.steps);
  }

  /** While an idle owner waits, each other owner is served once at most. */
  #count(served: string): void {
    for (const owner of new Set([...this.#waiting].map((task) => task.owner))) {
      if (owner === served || this.#ownedBy(owner) > 0) continue;
      const counts = this.#served.get(owner) ?? new Map<string, number>();
      const count = (counts.get(served) ?? 0) + 1;
      if (count > 1) throw new Error(`${served} was served ${count} times before ${owner}, which is idle`);
      this.#served.set(owner, counts.set(served, count));
    }
  }

  #ownedBy(owner: string): number {
    return [...this.#running.keys()].filter((task) => task.owner === owner).length;
  }
}

test("in random runs every task ends, and no rule is broken", () => {
  for (let seed = 0; seed < 250; seed += 1) {
    const simulation = new Simulation(seed);
    try {
      simulation.run(60);
    } catch (cause) {
      throw new Error(`seed ${seed}: ${String(cause)}`, { cause });
    }
    expect(simulation.ended).toBeGreaterThan(0);
  }
});
