/** Budgets beside the chains of two members: of calls at once, exactly as many run as they have room for. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import {
  engines,
  expectCleanAudit,
  type Gateway,
  oneCreditACall,
  sendChat,
  sharedPostgres,
  simulatedProviders,
  startGateway,
  storageOn,
  until,
} from "../kit/index.ts";

const CALLS = 200;
const BUDGET = 20;

const postgres = sharedPostgres();
let simulators: Simulators;
beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.stop());

interface Shown {
  id: string;
  spend: number;
  held: number;
}

describe.each(engines)("on %s", (engine) => {
  let gateway: Gateway;
  let tokens: string[];
  beforeAll(async () => {
    const storage = await storageOn(engine, postgres);
    gateway = await startGateway({ ...storage, providers: simulatedProviders(simulators), config: oneCreditACall });
    tokens = await Promise.all(
      ["ann", "ben"].map((user) => gateway.token({ user, organisation: "acme", credits: 0n })),
    );
    await gateway.cli("credits", "grant", "--organisation", "acme", "--amount", "1000");
  });
  afterAll(() => gateway.stop());

  const cli = async (...given: string[]): Promise<Shown> => {
    const { code, stdout, stderr } = await gateway.cli(...given, "--json");
    expect(`${code} ${stderr}`).toBe("0 ");
    return JSON.parse(stdout) as Shown;
  };

  /** How many of so many calls at once are answered; the others are refused for credits. */
  async function paid(model: string, count: number, by = tokens): Promise<number> {
    const body = JSON.stringify({ model, max_tokens: 10, messages: [{ role: "user", content: "hi" }] });
    const calls = Array.from({ length: count }, (_, index) => sendChat(gateway.url, by[index % by.length] ?? "", body));
    const answers = await Promise.all(calls);
    const others = answers.filter(({ status }) => status !== 200 && status !== 402);
    expect(others.map(({ status, body: text }) => `${status} ${text}`)).toEqual([]);
    return answers.filter(({ status }) => status === 200).length;
  }

  const settledOf = (id: string): Promise<unknown> =>
    until("nothing is held", async () => (await cli("budget", "show", id)).held === 0);

  async function infoOf(token = ""): Promise<Record<string, unknown>> {
    const answer = await fetch(`${gateway.url}/v1/user/info`, { headers: { authorization: `Bearer ${token}` } });
    return (await answer.json()) as Record<string, unknown>;
  }

  async function organisationOf(token = ""): Promise<unknown> {
    const answer = await fetch(`${gateway.url}/key/info`, { headers: { authorization: `Bearer ${token}` } });
    return ((await answer.json()) as { info: { organization_id: unknown } }).info.organization_id;
  }

  test("a model group's budget of an organisation, raised, and its group changed", async () => {
    await cli("group", "create", "frontier", "--models", "openai/first*,xai/*");
    const budget = ["--organisation", "acme", "--models", "frontier", "--max-budget", String(BUDGET)];
    const { id } = await cli("budget", "create", ...budget);
    expect(await paid("openai/first-1", CALLS)).toBe(BUDGET);
    await settledOf(id);
    expect(await cli("budget", "show", id)).toMatchObject({ spend: BUDGET, models: "frontier", organisation: "acme" });
    expect(await paid("openai/other", 3)).toBe(3);
    const models = { group: "frontier", globs: ["openai/first*", "xai/*"] };
    const shown = { id, level: "organisation", name: "acme", models, max_budget: BUDGET, spend: BUDGET, available: 0 };
    // It bounds some calls only: others have the credits of the organisation.
    expect(await infoOf(tokens[0])).toMatchObject({ budgets: [shown], available: 1_000 - BUDGET - 3 });
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    await cli("budget", "set", id, "--raise-by", "5", "--raise-until", tomorrow);
    expect(await paid("openai/first-2", CALLS)).toBe(5);
    await cli("group", "set", "frontier", "--models", "openai/third*");
    expect(await paid("openai/first-1", 2)).toBe(2);
    expect(await paid("openai/third", 2)).toBe(0);
    expect((await gateway.cli("group", "delete", "frontier")).code).toBe(1);
    await settledOf(id);
    await expectCleanAudit(gateway);
    expect(await cli("budget", "delete", id)).toEqual({ id, deleted: true } as object as Shown);
    expect(await paid("openai/third", 2)).toBe(2);
  });

  test("one of a user who is moved to another organisation", async () => {
    await cli("organisation", "create", "other");
    expect((await gateway.cli("credits", "grant", "--organisation", "other", "--amount", "100")).code).toBe(0);
    const ben = tokens.slice(1);
    const { id } = await cli("budget", "create", "--user", "ben", "--max-budget", "9");
    expect(await paid("openai/quick", 5, ben)).toBe(5);
    const before = await organisationOf(ben[0]);
    await cli("user", "move", "ben", "--organisation", "other");
    // For up to a second, calls go on at the former place.
    await until("the gateway knows", async () => (await organisationOf(ben[0])) !== before);
    expect(await paid("openai/quick", 20, ben)).toBe(4);
    await settledOf(id);
    const left = await fetch(`${gateway.url}/v2/team/credit-usage`, { headers: { authorization: `Bearer ${ben[0]}` } });
    expect(await left.json()).toMatchObject({ data: { remainingCredits: 0, planCredits: 9 } });
    expect(await cli("budget", "show", id)).toMatchObject({ spend: 9, user: "ben" });
    await expectCleanAudit(gateway);
    await cli("user", "move", "ben", "--organisation", "acme");
    await cli("budget", "delete", id);
  });

  test("a weekly one for all models, beside one of each member", async () => {
    const weekly = ["--period", "weekly", "--start", "3", "--max-budget", String(BUDGET)];
    const { id } = await cli("budget", "create", "--organisation", "acme", ...weekly);
    const own = await cli("budget", "create", "--user", "ann", "--max-budget", "7");
    expect(await paid("openai/quick", CALLS)).toBe(BUDGET);
    await Promise.all([settledOf(id), settledOf(own.id)]);
    expect((await cli("budget", "show", own.id)).spend).toBeLessThanOrEqual(7);
    const info = await infoOf(tokens[1]);
    expect(info).toMatchObject({ available: 0, max_budget: BUDGET, period: "weekly", budgets: [{ id, models: null }] });
    await expectCleanAudit(gateway);
    for (const each of [id, own.id]) await cli("budget", "delete", each);
  });

  test("one of a project, whose tokens share it", async () => {
    await cli("project", "create", "site", "--organisation", "acme", "--members", "ann");
    const { id } = await cli("budget", "create", "--project", "site", "--max-budget", "6");
    const created = await Promise.all(
      ["ci", "web"].map((name) => gateway.cli("token", "create", "--project", "site", "--name", name)),
    );
    const own = created.map(({ stdout }) => stdout.trim());
    expect(await paid("openai/quick", 40, own)).toBe(6);
    await settledOf(id);
    expect(await infoOf(own[0])).toMatchObject({
      user: "site",
      user_id: "project:site",
      project: "site",
      available: 0,
    });
    expect(await cli("project", "show", "site")).toMatchObject({ spend: 6, held: 0 });
    await expectCleanAudit(gateway);
  });
});
