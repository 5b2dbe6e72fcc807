import {
  type AccountsDependencies,
  addBudget,
  addGroup,
  addHolder,
  changeBudget,
  changeGroup,
  changeHolder,
  deleteBudget,
  grantCredits,
} from "../../../src/accounts/index.ts";
import { GatewayError, type Nano } from "../../../src/core/index.ts";
import type { SqliteStorage } from "../../../src/storage/index.ts";
import { createAccounts } from "../../kit/accounts.ts";
import { Random } from "./random.ts";
import type { VirtualTime } from "./virtual-time.ts";

const user = { kind: "user", name: "u" } as const;
const organisations = ["o", "p"] as const;
type Globs = readonly string[];
const lists: readonly [Globs, ...Globs[]] = [["up/*"], ["dear/*"], ["*"], ["up/m", "dear/m"], ["none/*"]];

export interface BudgetChangesOptions {
  storage: SqliteStorage;
  time: VirtualTime;
  seed: number;
  credits: Nano;
  trace: (line: string) => void;
  find: (what: string) => void;
}

/**
 * What an operator does while calls run: budgets of the user and of the organisation are made, raised, lowered and deleted, their group
 * of models is changed, and the user moves. Drawn from a generator of its own.
 */
export class BudgetChanges {
  /** The account of calls that begin now. */
  accountId = "user:u";
  readonly #options: BudgetChangesOptions;
  readonly #random: Random;
  readonly #deps: AccountsDependencies;
  #budgets: string[] = [];

  constructor(options: BudgetChangesOptions) {
    this.#options = options;
    this.#random = new Random(options.seed ^ 0x2f6e2b1);
    const { storage, time } = options;
    const environment = { clock: () => time.now, randomBytes: (size: number) => this.#random.bytes(size) };
    this.#deps = createAccounts(storage, environment, "simulation");
  }

  /** The user in an organisation that pays, and another one beside it. */
  async open(): Promise<void> {
    const { credits } = this.#options;
    for (const name of organisations) await grantCredits(this.#deps, { kind: "organisation", name }, credits);
    await addHolder(this.#deps, { ...user, organisation: "o" });
    await addGroup(this.#deps, { name: "group", models: ["up/*"] });
    const { time } = this.#options;
    for (let left = this.#random.int(2, 14); left > 0; left -= 1)
      time.after(this.#random.int(0, 40_000), () => void this.#act());
  }

  /** A refusal, as of a fifth budget, is none of the books' concern. */
  async #act(): Promise<void> {
    const { trace, find } = this.#options;
    const kind = this.#random.weighted({ make: 8, change: 5, group: 3, delete: 4, move: 2 });
    trace(`operator: ${kind}`);
    const acts = {
      make: () => this.#make(),
      change: () => this.#change(),
      group: () => this.#group(),
      delete: () => this.#delete(),
      move: () => this.#move(),
    };
    try {
      await acts[kind]();
    } catch (reason) {
      if (!(reason instanceof GatewayError)) find(`operator: ${kind}: ${String(reason)}`);
    }
  }

  #amount(): Nano {
    return BigInt(this.#random.pick([0, 1_000_000, 5_000_000, 60_000_000])) + this.#options.credits / 2n;
  }

  async #make(): Promise<void> {
    const period = this.#random.pick([undefined, "daily", "weekly"] as const);
    const models = this.#random.pick(["group", null]);
    const organisation = { kind: "organisation", name: this.#random.pick(organisations) } as const;
    const owner = this.#random.chance(0.5) ? user : organisation;
    const { budget } = await addBudget(this.#deps, owner, { maxBudget: this.#amount(), models, period });
    this.#budgets.push(budget.id);
  }

  async #change(): Promise<void> {
    const id = this.#budgets[this.#random.int(0, this.#budgets.length)];
    if (id === undefined) return;
    const raise = { by: this.#amount(), until: this.#options.time.now + this.#random.int(1, 60_000) };
    await changeBudget(this.#deps, id, this.#random.chance(0.5) ? { raise } : { maxBudget: this.#amount() });
  }

  async #group(): Promise<void> {
    await changeGroup(this.#deps, "group", { models: this.#random.pick(lists) });
  }

  async #delete(): Promise<void> {
    const id = this.#budgets[this.#random.int(0, this.#budgets.length)];
    this.#budgets = this.#budgets.filter((each) => each !== id);
    if (id !== undefined) await deleteBudget(this.#deps, id);
  }

  async #move(): Promise<void> {
    const { chain } = await changeHolder(this.#deps, user, { organisation: this.#random.pick(organisations) });
    this.accountId = chain[0]?.id ?? this.accountId;
  }
}
