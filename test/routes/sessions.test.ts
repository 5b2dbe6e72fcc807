/** Sessions prefer one target, whose provider has cached their beginning, and lose it at once when it fails. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Rig, startRig } from "../kit/index.ts";
import { type FailingUpstream, goodAnswer, startFailingUpstream } from "./failing-upstream.ts";

const SESSIONS = 100;
const TURNS = 20;

let rig: Rig;
let upstream: FailingUpstream;
let token: string;
beforeAll(async () => {
  upstream = await startFailingUpstream();
  rig = await startRig({
    providers: () =>
      Object.fromEntries(
        ["one", "two", "three"].map((name) => [
          name,
          { kind: "openai-compatible", base_url: upstream.url, api_key: `k-${name}` },
        ]),
      ),
    config: {
      pricing: { unpriced: "free" },
      routing: {
        routes: {
          warm: {
            strategy: "weighted",
            tiers: [["one/a", "two/b", "three/c"].map((model) => ({ model }))],
          },
        },
      },
    },
  });
  ({ token } = await rig.caller());
});
beforeEach(() => {
  upstream.asked.length = 0;
  upstream.dead.clear();
});
afterAll(async () => {
  await rig.stop();
  await upstream.stop();
});

/** The provider that answers a turn of a session. */
async function turnOf(session: number, turn: number): Promise<string> {
  const system = { role: "system", content: "You are an agent. ".repeat(300) };
  const history = Array.from({ length: turn }, (_, index) => ({ role: "user", content: `turn ${index}` }));
  const answer = await fetch(`${rig.gateway.url}/v1/chat/completions`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({
      model: "warm",
      max_tokens: 10,
      messages: [system, { role: "user", content: `session ${session}` }, ...history],
    }),
  });
  expect([answer.status, await answer.text()]).toEqual([200, goodAnswer("chat", false)]);
  return answer.headers.get("x-tollgate-provider") ?? "";
}

/** A turn of every session. */
const turnOfAll = (turn: number): Promise<string[]> =>
  Promise.all(Array.from({ length: SESSIONS }, (_, session) => turnOf(session, turn)));

test("each of 100 sessions keeps its target for 20 turns, and none fails when a target dies", async () => {
  const first = await turnOfAll(0);
  for (const provider of ["one", "two", "three"])
    expect(first.filter((each) => each === provider).length).toBeGreaterThan(15);
  for (let turn = 1; turn < TURNS / 2; turn += 1) expect(await turnOfAll(turn)).toEqual(first);
  upstream.dead.add("b");
  for (let turn = TURNS / 2; turn < TURNS; turn += 1) {
    const now = await turnOfAll(turn);
    // The sessions of the others stay where they are.
    expect(now.filter((_, session) => first[session] !== "two")).toEqual(first.filter((each) => each !== "two"));
    expect(now).not.toContain("two");
  }
});
