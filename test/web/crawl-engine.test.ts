/** An upstream with Firecrawl's API reads the pages of a crawl, and the gateway itself the files that callers send. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Firecrawl } from "@mendable/firecrawl-js";
import { type Simulators, startSimulators } from "../../simulators/index.ts";
import { creditsText, generationOf, oneCredit, post, type Rig, startRig } from "../kit/index.ts";

let simulators: Simulators;
let rig: Rig;
beforeAll(async () => {
  simulators = await startSimulators();
  const engine = { kind: "firecrawl", base_url: simulators.web.firecrawl, api_key: "fc-simulated" };
  rig = await startRig({ config: { web: { engine, allow_private_hosts: ["127.0.0.1:*"] } } });
});
afterAll(async () => {
  await rig.stop();
  await simulators.stop();
});

test("follows its links, which the caller gets only if they are requested", async () => {
  const caller = await rig.caller();
  const client = new Firecrawl({ apiUrl: rig.gateway.url, apiKey: caller.token });
  const options = { sitemap: "skip", limit: 5, pollInterval: 1, timeout: 60 } as const;
  const job = await client.crawl(`${simulators.site}/`, options);
  expect(job.status).toBe("completed");
  expect(job.data.map(({ metadata }) => metadata?.sourceURL ?? "").toSorted()).toEqual([
    `${simulators.site}/`,
    `${simulators.site}/about`,
  ]);
  expect(job.data.every(({ markdown, links }) => markdown !== undefined && links === undefined)).toBe(true);
  expect(await caller.closed()).toBe((2n * oneCredit) / 1_000n);
  const linked = await client.crawl(`${simulators.site}/`, {
    ...options,
    limit: 1,
    scrapeOptions: { formats: ["links"] },
  });
  expect(linked.data.map(({ markdown, links }) => [markdown, links?.length])).toEqual([[undefined, 2]]);
});

test("a file is read by the gateway itself", async () => {
  const caller = await rig.caller();
  const form = new FormData();
  form.append("file", new Blob(["<title>Tides</title><main><h1>Tides</h1><p>High at noon.</p></main>"]), "a.html");
  const answer = await post(rig, "/v2/parse", caller.token, form);
  const { data } = (await answer.json()) as { data: { markdown: string } };
  expect([answer.status, data.markdown]).toEqual([200, "# Tides\n\nHigh at noon."]);
  expect(creditsText(await caller.closed())).toBe("0.001");
  expect((await generationOf(rig, caller, answer))["model"]).toBe("web/native");
});
