/** A gateway that is killed in the middle of a loop: its parts are charged as they ended, and nothing is charged twice. */
import { expect, test } from "bun:test";
import { Ledger, openLedgerStore } from "../../src/ledger/index.ts";
import { openGenerationStore } from "../../src/generations/index.ts";
import { expectCleanAudit, type Gateway, letLeasesLapse, oneCredit, until, userBooks } from "../kit/index.ts";
import { hostedScene, model, type ModelAnswer } from "./hosted-scene.ts";

/** Every round costs one credit, every search a tenth. */
const at = hostedScene({
  pricing: { models: { "plain/*": { requests_kcount: 1_000 } }, web: { searches_kcount: 100, pages_kcount: 0 } },
});

const search: ModelAnswer = { text: "Wait.", calls: [{ name: "web_search", args: { query: "q" } }] };

/** By hand more. */
const KILLS = Number(process.env["KILLS"] ?? 2);

test("ledger and records agree after each kill", async () => {
  const scene = at();
  let gateway: Gateway = scene.rig.gateway;
  const token = await gateway.token({ user: "killed", credits: 1_000n * oneCredit });
  scene.finds({ path: "/a", title: "A", content: "About A." });
  const ids: string[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const isInModel = kill % 2 === 1;
    const reached = Promise.withResolvers<void>();
    const never = Promise.withResolvers<never>();
    const hang = async (): Promise<never> => {
      reached.resolve();
      return never.promise;
    };
    scene.engine.before = isInModel ? () => undefined : hang;
    scene.answers(search, isInModel ? hang : search);
    const asked = fetch(`${gateway.url}/v1/messages`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({
        model,
        max_tokens: 100,
        stream: true,
        messages: [{ role: "user", content: "Hi" }],
        tools: [{ type: "web_search_20250305", name: "web_search" }],
      }),
    }).then((answer) => {
      ids.push(answer.headers.get("x-request-id") ?? "");
      return answer.text();
    });
    asked.catch(() => undefined);
    await reached.promise;
    await until("the call has an id", () => ids.length === kill + 1);
    gateway = await scene.restart();
    await asked.catch(() => undefined);
  }
  scene.engine.before = () => undefined;
  await letLeasesLapse(gateway.storage);
  await new Ledger({ store: openLedgerStore(gateway.storage) }).submit({ kind: "sweep", at: Date.now() });
  await until("nothing is held", async () => (await userBooks(gateway, "killed")).held === 0n);
  const store = openGenerationStore(gateway.storage);
  let recorded = 0n;
  for (const [kill, id] of ids.entries()) {
    const parts = await store.ofSeries({ owner: "killed", parent: id, after: "", limit: 100 });
    recorded += parts.reduce((sum, { credits }) => sum + credits, 0n);
    // The round, and the search if that had ended; the part that was under way has expired.
    expect(parts.filter(({ outcome }) => outcome === "complete")).toHaveLength(kill % 2 === 1 ? 2 : 1);
    expect((await store.find(id, "killed"))?.outcome).toBe("expired");
  }
  expect((await userBooks(gateway, "killed")).spent).toBe(recorded);
  await expectCleanAudit(gateway);
}, 300_000);
