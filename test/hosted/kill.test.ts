/** A gateway that is killed in the middle of a loop: its parts are charged as they ended, and nothing is charged twice. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Ledger, openLedgerStore } from "../../src/ledger/index.ts";
import { openGenerationStore } from "../../src/generations/index.ts";
import { expectCleanAudit, type Gateway, letLeasesLapse, oneCredit, until, userBooks } from "../kit/index.ts";
import { startTestServer, type TestServer, textResult } from "../tools/tool-server.ts";
import { hostedScene, type HostedScene, model, type ModelAnswer } from "./hosted-scene.ts";

let server: TestServer;
/** Before a tool of the server answers. */
let runs: () => Promise<void> | void = () => undefined;
beforeAll(() => {
  const inputSchema = { type: "object", properties: { code: { type: "string" } } };
  const call = async () => {
    await runs();
    return textResult("1");
  };
  server = startTestServer({ era: "2026", tools: [{ name: "python", description: "", inputSchema }], call });
});
afterAll(() => server.stop());

const painter = "pictures/gpt-image-1";

/** Every round costs one credit, every search a tenth. */
const at = hostedScene(() => ({
  pricing: {
    models: { "plain/*": { requests_kcount: 1_000 }, [painter]: { input_mtok: 5, output_image_mtok: 40 } },
    web: { searches_kcount: 100, pages_kcount: 0 },
  },
  mcp: { servers: { box: { url: server.url, price: { call: 0.5 } } }, models: { image: painter } },
  tools: { hosted: { code_interpreter: "box__python" } },
}));

type Hang = () => Promise<never>;

interface Killed {
  /** The parts that end before the kill. */
  parts: number;
  path: string;
  body: object;
  /** Makes the place hang that is reached next. */
  hangs: (scene: HostedScene, hang: Hang) => void;
}

const calling = (name: string, args: object): ModelAnswer => ({ text: "Wait.", calls: [{ name, args: { ...args } }] });
const search = calling("web_search", { query: "q" });

const messages = {
  path: "/v1/messages",
  body: {
    max_tokens: 100,
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ type: "web_search_20250305", name: "web_search" }],
  },
};
const responses = (tool: object) => ({ path: "/v1/responses", body: { input: "Hi", tools: [tool] } });

const kills: readonly Killed[] = [
  {
    ...messages,
    parts: 1,
    hangs(scene, hang) {
      scene.engine.before = hang;
      scene.answers(search);
    },
  },
  { ...messages, parts: 2, hangs: (scene, hang) => scene.answers(search, hang) },
  {
    ...responses({ type: "code_interpreter", container: { type: "auto" } }),
    parts: 1,
    hangs(scene, hang) {
      runs = hang;
      scene.answers(calling("code_interpreter", { code: "1" }));
    },
  },
  {
    ...responses({ type: "image_generation" }),
    parts: 1,
    hangs(scene, hang) {
      scene.painter.answer = hang;
      scene.answers(calling("image_generation", { prompt: "a cat" }));
    },
  },
];

/** By hand more. */
const KILLS = Number(process.env["KILLS"] ?? kills.length);

function killed(kill: number): Killed {
  const found = kills[kill % kills.length];
  if (found === undefined) throw new Error("no such kill");
  return found;
}

test("ledger and records agree after each kill", async () => {
  const scene = at();
  let gateway: Gateway = scene.rig.gateway;
  const token = await gateway.token({ user: "killed", credits: 1_000n * oneCredit });
  scene.finds({ path: "/a", title: "A", content: "About A." });
  const ids: string[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const { path, body, hangs } = killed(kill);
    const reached = Promise.withResolvers<void>();
    const never = Promise.withResolvers<never>();
    scene.engine.before = () => undefined;
    hangs(scene, async () => {
      reached.resolve();
      return never.promise;
    });
    const asked = fetch(gateway.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ model, stream: true, ...body }),
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
    // The part that was under way has expired.
    expect(parts.filter(({ outcome }) => outcome === "complete")).toHaveLength(killed(kill).parts);
    expect((await store.find(id, "killed"))?.outcome).toBe("expired");
  }
  expect((await userBooks(gateway, "killed")).spent).toBe(recorded);
  await expectCleanAudit(gateway);
}, 300_000);
