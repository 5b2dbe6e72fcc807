/** Organisations and budgets, as an operator sets them and a caller meets them, while a server runs. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { codeOf, type Created, operatorOf, type Rig, startRig, until } from "../kit/index.ts";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(async () => {
  await rig.expectBalancedBooks();
  await rig.stop();
});

const { cli, run, runJson, chat, info } = operatorOf(() => rig.gateway);

/** The cost of a call without an output limit: 9 input and 8 output tokens, at 1 and 2 credits per million. */
const price = 0.000025;

interface ShownAccount {
  account: string;
  parent: string | null;
  level: string;
  balance: number | null;
  max_budget: number | null;
  spend: number;
  held: number;
  available: number | null;
  period: string | null;
  period_reset_at: string | null;
  credits: number | null;
  spent: number;
}

/** Waits until a call has been charged, and returns the caller's view of it. */
const settled = (token: string): Promise<Record<string, unknown>> =>
  until("the cost", async () => {
    const shown = await info(token);
    const levels = shown["levels"] as { spend: number; held: number }[];
    return levels.every(({ spend, held }) => spend > 0 && held === 0) && shown;
  });

const midnight: unknown = expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00\.000Z$/);

describe("an organisation", () => {
  test("pays for its users, and each level is shown to the caller and the operator", async () => {
    const alice = await runJson<Created>("token", "create", "--user", "alice", "--organisation", "acme");
    const bob = await runJson<Created>("token", "create", "--user", "bob", "--organisation", "acme");
    expect(await codeOf(await chat(alice.token))).toBe("insufficient_credits");
    expect(await runJson<object>("credits", "grant", "--organisation", "acme", "--amount", "2")).toEqual({
      organisation: "acme",
      granted: 2,
      balance: 2,
    });
    await runJson("account", "set", "--user", "alice", "--max-budget", "1.5", "--period", "daily");
    await runJson("account", "set", "--token", alice.id, "--max-budget", "0.5");
    expect(await codeOf(await chat(alice.token))).toBe("status 200");

    const used = { spend: price, held: 0 };
    const ofToken = { max_budget: 0.5, ...used, available: 0.5 - price, period: null, period_reset_at: null };
    const ofUser = { max_budget: 1.5, ...used, available: 1.5 - price, period: "daily", period_reset_at: midnight };
    const ofCompany = { max_budget: 2, ...used, available: 2 - price, period: null, period_reset_at: null };
    expect(await settled(alice.token)).toEqual({
      object: "user.info",
      user: "alice",
      user_id: "alice",
      project: null,
      token_id: alice.id,
      limits: {
        requests_per_minute: null,
        models_within: [],
        tools: null,
        tools_within: [],
        tokens_per_minute: null,
        concurrent_calls: null,
        models: null,
        expires_at: null,
      },
      service_bypass: false,
      balance: 2 - price,
      ...ofToken,
      levels: [
        { level: "token", name: alice.id, balance: null, ...ofToken },
        { level: "user", name: "alice", balance: null, ...ofUser },
        { level: "organisation", name: "acme", balance: 2 - price, ...ofCompany },
      ],
      budgets: [],
    });
    // The organisation is the tightest level for a user without a budget, and alice's spending counts for it.
    expect(await info(bob.token)).toMatchObject({ user: "bob", balance: 2 - price, ...ofCompany });

    expect(await runJson<object>("account", "show", "--user", "alice")).toEqual({
      tightest: "user:alice",
      levels: [
        {
          account: "user:alice",
          parent: "organisation:acme",
          level: "user",
          name: "alice",
          balance: null,
          ...ofUser,
          credits: null,
          spent: price,
        },
        {
          account: "organisation:acme",
          parent: null,
          level: "organisation",
          name: "acme",
          balance: 2 - price,
          ...ofCompany,
          credits: 2,
          spent: price,
        },
      ],
    });
    const table = await run("account", "show", "--token", alice.id);
    expect(table.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ["ACCOUNT", "CREDITS", "SPENT", "HELD", "AVAILABLE", "BUDGET"],
      [`token:${alice.id}`, "-", "0.000025", "0", "0.499975", "0.000025 of 0.5"],
      ["user:alice", "-", "0.000025", "0", "1.499975", "0.000025 of 1.5 daily"],
      ["organisation:acme", "2", "0.000025", "0", "1.999975", "-"],
      [`A call may cost 0.499975 at most: token:${alice.id} has the least room.`],
      [""],
    ]);
  });

  test("lists its accounts below it", async () => {
    const carol = await runJson<Created>("token", "create", "--user", "carol", "--organisation", "labs");
    const robot = await runJson<Created>("token", "create", "--user", "robot", "--service");
    const listed = await runJson<ShownAccount[]>("account", "list");
    const ours = listed.map(({ account }) => account).filter((id) => id.endsWith("labs") || id.endsWith("carol"));
    expect(ours).toEqual(["organisation:labs", "user:carol"]);
    expect(listed.find(({ account }) => account === `token:${carol.id}`)).toMatchObject({
      parent: "user:carol",
      level: "token",
      credits: null,
      max_budget: null,
      available: null,
      spent: 0,
    });
    const table = await run("account", "list");
    const lines = new RegExp(`^organisation:labs .*\\n  user:carol .*\\n    token:${carol.id} +- +0 +0 +- +-$`, "m");
    expect(table).toMatch(lines);
    expect(await run("account", "show", "--token", robot.id)).toEndWith("Nothing limits what a call may cost.\n");
  });

  test.concurrent.each<[string, string[], string]>([
    ["in none", [], "user USER is in no organisation, not in acme: move them first"],
    ["in another", ["--organisation", "beta"], "user USER is in organisation beta, not in acme: move them first"],
  ])("accepts nobody who is %s", async (where, first, message) => {
    const user = where.replace(" ", "-");
    await runJson("token", "create", "--user", user, ...first);
    expect(await cli("token", "create", "--user", user, "--organisation", "acme")).toEqual({
      code: 1,
      stdout: "",
      stderr: `tollgate: ${message.replace("USER", user)}\n`,
    });
  });
});

describe("a budget that is set", () => {
  test.concurrent.each(["user", "token"] as const)("for a %s holds from the next call on", async (level) => {
    const user = `bounded-${level}`;
    const { token, id } = await runJson<Created>("token", "create", "--user", user, "--credits", "1");
    const name = [`--${level}`, level === "user" ? user : id];
    expect(await codeOf(await chat(token))).toBe("status 200");
    const set = ["account", "set", ...name];
    expect(await runJson<ShownAccount>(...set, "--max-budget", "0", "--period", "monthly")).toMatchObject({
      level,
      max_budget: 0,
      period: "monthly",
    });
    expect(await codeOf(await chat(token))).toBe("insufficient_credits");
    expect(await info(token)).toMatchObject({ max_budget: 0, period: "monthly" });
    expect(await run(...set, "--max-budget", "0.5", "--period", "none")).toMatch(
      new RegExp(`^${level}:\\S+ .* [\\d.]+ of 0.5$`, "m"),
    );
    expect(await codeOf(await chat(token))).toBe("status 200");
    expect(await runJson<ShownAccount>(...set, "--max-budget", "none")).toMatchObject({ period: null });
    expect(await info(token)).toMatchObject({ max_budget: 1, period: null });
  });
});

test("an organisation's markup replaces the configuration's in charges, quotes and records", async () => {
  const { token } = await runJson<Created>("token", "create", "--user", "dealer-1", "--organisation", "dealer");
  await run("credits", "grant", "--organisation", "dealer", "--amount", "2");
  const headers = { authorization: `Bearer ${token}` };
  const quoted = async (): Promise<number | undefined> => {
    const model = await fetch(`${rig.gateway.url}/v1/models/openai/gpt-4o-mini`, { headers });
    return ((await model.json()) as { pricing: { input_mtok: number } }).pricing.input_mtok;
  };
  const charged = async (): Promise<object> => {
    const answer = await chat(token);
    expect(await codeOf(answer)).toBe("status 200");
    const id = answer.headers.get("x-request-id");
    const generation = await fetch(`${rig.gateway.url}/v1/generations/${id}`, { headers });
    return (await generation.json()) as object;
  };
  expect(await quoted()).toBe(1);
  expect(await charged()).toMatchObject({ credits: price, list_credits: price });
  const set = ["account", "set", "--organisation", "dealer", "--markup"];
  expect(await runJson<object>(...set, "1.6")).toMatchObject({ account: "organisation:dealer", markup: 1.6 });
  await until("the markup", async () => (await quoted()) === 1.6);
  expect(await charged()).toMatchObject({ credits: (price * 16) / 10, list_credits: price });
  // Other changes keep it.
  await run("account", "set", "--organisation", "dealer", "--max-budget", "1");
  expect(await run("account", "show", "--organisation", "dealer")).toContain("MARKUP");
  const plain = await runJson<object>(...set, "none");
  expect(plain).toMatchObject({ max_budget: 1 });
  expect(plain).not.toHaveProperty("markup");
  await until("the configuration's", async () => (await quoted()) === 1);
  const refused = await cli("account", "set", "--user", "dealer-1", "--markup", "1.2");
  expect(refused.stderr).toBe(
    "tollgate: only an organisation has a markup; user dealer-1 has that of the configuration\n",
  );
});

test.concurrent.each([
  [["account", "set", "--user", "nobody", "--max-budget", "1"], "there is no user nobody"],
  [["account", "show", "--organisation", "nowhere"], "there is no organisation nowhere"],
  [["account", "set", "--user", "x"], "there is nothing to set: --max-budget, --period or --markup"],
  [
    ["account", "set", "--organisation", "x", "--markup", "0"],
    '--markup: "0" is no factor such as 1.2, with at most six decimals',
  ],
  [["account", "set", "--max-budget", "1"], "name one account: --user or --organisation or --project or --token"],
  [
    ["account", "show", "--user", "x", "--token", "y"],
    "name one account: --user or --organisation or --project or --token",
  ],
  [["account", "set", "--user", "x", "--period", "weekly"], '--period: "weekly" is none of daily, monthly'],
  [["credits", "grant", "--amount", "1"], "name one account: --user or --organisation or --project"],
  [["token", "create", "--user", "x", "--tpm", "0"], '--tpm: "0" is no whole number above zero'],
])("%p is refused in one line", async (args, line) => {
  expect(await cli(...args)).toEqual({ code: 1, stdout: "", stderr: `tollgate: ${line}\n` });
});
