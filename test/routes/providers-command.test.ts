/** Providers out of use by hand: `tollgate providers`, while a gateway runs. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { oneCredit, type Rig, type ScriptedUpstream, startRig, startScriptedUpstream, until } from "../kit/index.ts";

let rig: Rig;
let upstream: ScriptedUpstream;
let status = 200;
beforeAll(async () => {
  upstream = startScriptedUpstream();
  upstream.answerWith(({ path }) => {
    if (status !== 200) return Response.json({ error: { message: "no", code: "invalid_api_key" } }, { status });
    return path.endsWith("/models")
      ? Response.json({ object: "list", data: [{ id: "m" }] })
      : Response.json({
          id: "c",
          object: "chat.completion",
          choices: [],
          usage: { prompt_tokens: 1, completion_tokens: 1 },
        });
  });
  rig = await startRig({
    providers: () => ({
      own: { kind: "openai-compatible", base_url: upstream.url, api_key: "k-own", aliases: ["mine"] },
    }),
    config: {
      pricing: { unpriced: "free" },
      routing: { routes: { either: { tiers: [[{ model: "own/m" }, { model: "openai/gpt-4o-mini" }]] } } },
    },
  });
});
afterEach(() => rig.expectBalancedBooks());
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
});

async function call(model: string) {
  const answer = await (await rig.caller()).chat({ model, messages: [{ role: "user", content: "hi" }] });
  const { error } = (await answer.json()) as { error?: { code: string } };
  return { status: answer.status, code: error?.code, provider: answer.headers.get("x-tollgate-provider") };
}

async function run(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await rig.gateway.cli("providers", ...args, "--json");
  if (code !== 0) throw new Error(stderr || stdout);
  return JSON.parse(stdout);
}

const works = { status: 200, code: undefined, provider: "own" };
const own = async (): Promise<unknown> =>
  ((await run("list")) as { provider: string }[]).find(({ provider }) => provider === "own");

test("a disabled provider gets no calls within two seconds, with its reason in list and log, until it is enabled", async () => {
  expect(await call("own/m")).toEqual(works);
  await run("disable", "mine", "--reason", "it is slow");
  const at = performance.now();
  await until("its calls are refused", async () => (await call("own/m")).code === "provider_disabled");
  expect(performance.now() - at).toBeLessThan(2_000);
  expect(await call("own/m")).toMatchObject({ status: 503 });
  expect(await call("either")).toMatchObject({ status: 200, provider: "openai" });
  expect(await own()).toMatchObject({
    state: "disabled",
    disabled: [{ target: "own", until: null, reason: "it is slow" }],
  });
  await run("enable", "own");
  await until("it is called again", async () => (await call("own/m")).status === 200);
  const lines = (): unknown[] => rig.gateway.logLines().filter(({ msg }) => String(msg).startsWith("target is"));
  await until("both changes are logged", () => lines().length === 2);
  expect(lines()).toMatchObject([
    { msg: "target is disabled", target: "own", reason: "it is slow" },
    { msg: "target is enabled again", target: "own" },
  ]);
});

test("a disabled model leaves the others alone, and comes back by itself", async () => {
  await run("disable", "own/m", "--for", "1s");
  await until("its calls are refused", async () => (await call("own/m")).code === "provider_disabled");
  expect(await call("own/other")).toEqual(works);
  await until("the time is over", async () => (await call("own/m")).status === 200);
});

test.each([
  [["disable", "nobody"], "no provider has the prefix nobody"],
  [["disable", "own/"], "has no name after its prefix"],
  [["enable", "own"], "own is not disabled"],
  [["test", "nobody"], "no provider has the prefix nobody"],
])("%j is refused", async (args, message) => {
  const { code, stderr } = await rig.gateway.cli("providers", ...args);
  expect(code).toBe(1);
  expect(stderr).toContain(message);
});

test("a key that is refused is asked no more, and used again at once after a test of the provider", async () => {
  status = 401;
  for (let times = 0; times < 6; times += 1)
    expect(await call("own/m")).toMatchObject({ code: "provider_key_refused" });
  await until("the list knows it", async () => {
    const listed = (await own()) as { refused_keys: string[] };
    return listed.refused_keys.length === 1;
  });
  const failing = await rig.gateway.cli("providers", "test", "own");
  expect(failing.code).toBe(1);
  expect(failing.stdout).toContain("the listing answered 401");
  status = 200;
  expect(await call("own/m")).toMatchObject({ code: "provider_key_refused" });
  expect(await run("test", "own")).toMatchObject([{ works: true, models: 1 }]);
  const { stdout } = await rig.gateway.cli("audit", "list", "--limit", "1", "--json");
  expect(JSON.parse(stdout)).toMatchObject({
    data: [{ act: "key.repair", target: expect.stringMatching(/^key:own\//) as string }],
  });
  await until("it is used", async () => (await call("own/m")).status === 200);
  expect(await own()).toMatchObject({ state: "enabled", refused_keys: [] });
  expect(rig.gateway.logLines().filter(({ msg }) => msg === "key is refused")).toMatchObject([
    { level: 50, provider: "own" },
  ]);
});

describe("route explain", () => {
  const explained = async (...args: string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await rig.gateway.cli("route", "explain", ...args, "--json");
    if (code !== 0) throw new Error(stderr || stdout);
    return JSON.parse(stdout);
  };
  const [first, second] = ["own/m", "openai/gpt-4o-mini"];

  test("tells what a call with the token would do, as long as it is so", async () => {
    const token = await rig.gateway.token({ user: "explained", models: ["own/*"], credits: oneCredit });
    const id = token.split("_")[1] ?? "";
    const asked = { asked: true, why: null };
    expect(await explained("either", "--token", id)).toMatchObject({
      model: "either",
      route: "either",
      strategy: "order",
      available: 1,
      refused: null,
      targets: [
        { tier: 1, model: first, ...asked, price: { input_mtok: 0 } },
        { model: second, asked: false, why: "not_allowed", message: expect.stringContaining("may not use") as unknown },
      ],
    });
    await run("disable", first, "--for", "1h");
    expect(await explained("either")).toMatchObject({
      available: null,
      targets: [
        { model: first, asked: false, why: "disabled" },
        { model: second, ...asked },
      ],
    });
    await until("the call does the same", async () => (await call("either")).provider === "openai");
    await run("enable", first);
    await until("and again", async () => (await call("either")).provider === "own");
    await rig.gateway.cli("token", "revoke", id);
    expect(await explained(first, "--token", id)).toMatchObject({ route: null, refused: "token_revoked" });
  });

  test("knows the limits of the token's user", async () => {
    const token = await rig.gateway.token({ user: "narrowed", credits: oneCredit });
    const id = token.split("_")[1] ?? "";
    expect((await rig.gateway.cli("user", "set", "narrowed", "--models", "own/*")).code).toBe(0);
    expect(await explained("either", "--token", id)).toMatchObject({
      targets: [{ asked: true }, { model: second, asked: false, why: "not_allowed" }],
    });
  });

  test("a target that has failed is left out, until when", async () => {
    status = 503;
    for (let times = 0; times < 3; times += 1) await call("own/failing");
    await until("the storage has it", async () => {
      const { targets } = (await explained("own/failing")) as { targets: [{ why: string; until: string }] };
      return targets[0].why === "left_out" && Date.parse(targets[0].until) > Date.now();
    });
    status = 200;
    expect(await explained("own/other")).toMatchObject({ targets: [{ asked: true, until: null }] });
  });

  test("as a table, with the cost of a call", async () => {
    const { stdout, code } = await rig.gateway.cli("route", "explain", "either", "--input-tokens", "5");
    expect([code, stdout.split("\n")[0]?.split(/\s+/)]).toEqual([
      0,
      ["TIER", "TARGET", "WEIGHT", "STATE", "PRICE", "COST"],
    ]);
    expect(stdout).toContain(second);
  });

  test.each([
    [["nobody/m"], "No provider has the prefix"],
    [["either", "--token", "none"], "there is no token none"],
  ])("%j is refused", async (args, message) => {
    const { code, stderr } = await rig.gateway.cli("route", "explain", ...args);
    expect([code, stderr.includes("    at ")]).toEqual([1, false]);
    expect(stderr).toContain(message);
  });
});
