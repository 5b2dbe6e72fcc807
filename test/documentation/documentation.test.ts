/** The documentation at `/docs`, as a reader has it: its links, in a browser, and its samples. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { type ApiDocument, operationsOf } from "../../scripts/documentation/openapi.ts";
import { sampleBodies } from "../../scripts/documentation/sample-requests.ts";
import { samplePath } from "../../scripts/documentation/samples.ts";
import { sdkCalls } from "../../scripts/documentation/sdk-calls.ts";
import {
  findPython,
  type Gateway,
  hasChromium,
  root,
  sorted,
  startChromium,
  startGateway,
  stopGateways,
  until,
} from "../kit/index.ts";
import { SampleRuns } from "./sample-runs.ts";

const document = JSON.parse(readFileSync(join(root, "openapi.json"), "utf8")) as ApiDocument;
const operations = operationsOf(document);
const python = await findPython("examples/python/requirements.txt");

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({
    providers: {},
    // The providers and prices of a gateway without a configuration.
    config: {
      providers: null,
      pricing: null,
      mcp: { servers: { github: { url: "http://127.0.0.1:9/mcp", auth: { header: "authorization", of: "user" } } } },
    },
    arguments: ["--sandbox"],
  });
});
afterAll(stopGateways);

const links = /<a [^>]*?href="([^"]+)"/g;
const ids = /\sid="([^"]+)"/g;

/** The samples of each operation that the pages show. */
function samplesShown(html: string): [id: string, languages: string[]][] {
  const sections = html.split('<section class="operation" aria-labelledby="').slice(1);
  return sections.map((section) => [
    section.slice(0, section.indexOf('"')),
    [...section.matchAll(/type="radio" [^>]*value="(\w+)"/g)].map(([, language = ""]) => language),
  ]);
}

test("every link leads to a page, and to a heading of it; every operation has its samples once, and is found", async () => {
  const pages = new Map<string, Set<string>>();
  const shown: ReturnType<typeof samplesShown> = [];
  const wanted: [from: string, to: string][] = [];
  const waiting = ["/docs"];
  for (let address = waiting.pop(); address !== undefined; address = waiting.pop()) {
    if (pages.has(address)) continue;
    const answer = await fetch(gateway.url + address);
    expect(answer.status, address).toBe(200);
    const text = await answer.text();
    const found = [...text.matchAll(ids)].map(([, id = ""]) => id);
    expect(new Set(found).size, `ids of ${address}`).toBe(found.length);
    pages.set(address, new Set(found));
    shown.push(...samplesShown(text));
    for (const [, href = ""] of text.matchAll(links)) {
      if (/^https?:/.test(href)) continue;
      const [path = "", fragment] = href.split("#");
      const target = path === "" ? address : path;
      if (fragment !== undefined) wanted.push([address, `${target}#${fragment}`]);
      if (target.startsWith("/docs")) waiting.push(target);
    }
  }
  expect(pages.size).toBeGreaterThan(45);
  const broken = wanted.filter(([, to]) => {
    const [path = "", fragment = ""] = to.split("#");
    return pages.get(path)?.has(fragment) !== true;
  });
  expect(broken).toEqual([]);
  const names = operations.map(({ operationId }) => operationId);
  expect(shown.map(([id]) => id).toSorted()).toEqual(names.toSorted());
  const without = shown.filter(([, languages]) => languages.join() !== "sh,python,typescript").map(([id]) => id);
  // A session over a WebSocket is no request by HTTP alone.
  expect(without).toEqual(["openRealtimeSession"]);
  const index = (await (await fetch(`${gateway.url}/docs/assets/search.json`)).json()) as { to: string }[];
  const indexed = new Set(index.map(({ to }) => to));
  const unindexed = [...pages].flatMap(([address, own]) =>
    names.filter((id) => own.has(id) && !indexed.has(`${address}#${id}`)).map((id) => `${address}#${id}`),
  );
  // The contents of administration have the names of the operations too.
  expect(unindexed.filter((to) => !to.startsWith("/docs/api/admin#"))).toEqual([]);
});

describe.skipIf(!hasChromium)("in a browser", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await startChromium();
  });
  afterAll(() => browser.close());

  const addresses = [
    "/docs",
    "/docs/api",
    "/docs/clients",
    "/docs/dialects",
    "/docs/api/chat",
    "/docs/api/admin-tokens",
  ];

  async function opened(address: string, options: Parameters<Browser["newPage"]>[0]): Promise<[Page, string[]]> {
    const page = await browser.newPage(options);
    const errors: string[] = [];
    page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(error.message));
    page.on("request", (request) => request.url().startsWith(gateway.url) || errors.push(request.url()));
    await page.goto(gateway.url + address);
    return [page, errors];
  }

  test.each([
    ["wide", "light", 1400],
    ["narrow", "dark", 360],
  ] as const)("a %s page, %s, is accessible, and has no error and nothing beside it", async (_, colorScheme, width) => {
    for (const address of addresses) {
      const [page, errors] = await opened(address, { colorScheme, viewport: { width, height: 900 } });
      const beyond = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
      // By the debugger's protocol, which the policy of the page does not hold for.
      await page.evaluate(axe.source);
      const violations = await page.evaluate<string[]>(
        "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id} ${target}`)))",
      );
      expect([address, beyond, errors, violations]).toEqual([address, 0, [], []]);
      await page.close();
    }
  });

  test("the search is opened, used and left with the keyboard", async () => {
    const [page, errors] = await opened("/docs", {});
    await page.keyboard.press("/");
    await page.keyboard.type("chat compl");
    await page.locator("#page-results a").first().waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/docs/api/chat#createChatCompletion");
    await page.keyboard.press("/");
    await page.locator("#page-search").fill("drain_delay");
    await page.locator('#page-results a[href^="/docs/scaling"]').waitFor();
    await page.locator("#page-search").fill("zzzz");
    await page.getByText("Nothing is found.").waitFor();
    await page.keyboard.press("Escape");
    await page.locator("#page-results").waitFor({ state: "hidden" });
    expect(errors).toEqual([]);
    await page.close();
  });

  test("a language is chosen once for all samples, with the keyboard, and kept", async () => {
    const [page, errors] = await opened("/docs/api/chat", {});
    await page.locator('input[value="sh"]').first().focus();
    await page.keyboard.press("ArrowRight");
    await page.locator(".panel.python").last().waitFor();
    await page.goto(`${gateway.url}/docs/api/images`);
    await page.getByText("client.images.generate").first().waitFor();
    expect(await page.locator(".panel.sh:visible").count()).toBe(0);
    expect(errors).toEqual([]);
    await page.close();
  });

  test("the navigation of a narrow page opens, and closes behind a link and with Escape", async () => {
    const [page, errors] = await opened("/docs/api/chat", { viewport: { width: 360, height: 800 } });
    const navigation = page.locator("#page-navigation");
    await page.getByRole("button", { name: "Menu" }).click();
    await navigation.getByText("Create message").click();
    await page.waitForURL("**/docs/api/chat#createMessage");
    await navigation.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Menu" }).press("Enter");
    await navigation.waitFor();
    await page.keyboard.press("Escape");
    await navigation.waitFor({ state: "hidden" });
    expect(errors).toEqual([]);
    await page.close();
  });

  test("a page is read without scripts", async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const page = await context.newPage();
    await page.goto(`${gateway.url}/docs/api/chat`);
    await page.locator("label", { hasText: "Python" }).first().click();
    await page.getByText("client.chat.completions.create").first().waitFor();
    await context.close();
  });
});

/** Those that are about a thing that does not exist, or that the gateway of the test does not have. */
const notSent: Readonly<Record<string, string>> = {
  createBatch: "its file is not there",
  createImageEdit: "its picture is not there",
  createVideoEdit: "its video is not there",
  createVideoExtension: "its video is not there",
  updateConversation: "its conversation is not there",
  createConversationItems: "its conversation is not there",
  rerank: "none of the sandbox's providers ranks",
  rerankV2: "none of the sandbox's providers ranks",
};

/** The ways of work that the samples use. */
const paidOperations =
  "chat completion crawl embeddings gemini image_generation map messages moderation responses scrape search speech video_generation";

/** Pages of the gateway alone call them, with a browser's cookie. */
const ofBrowsers: ReadonlySet<string> = new Set(["signIn", "signOut"]);

describe("the samples", () => {
  let runs: SampleRuns;
  beforeAll(async () => {
    runs = new SampleRuns(gateway, await gateway.token({ user: "runner", role: "owner" }));
  });
  afterAll(() => runs.close());

  test("in TypeScript work", async () => {
    const command = [process.execPath, join(import.meta.dir, "run-samples.ts")];
    const byPrograms = operations.filter(({ operationId }) => !ofBrowsers.has(operationId));
    const { run, failed } = await runs.run({ label: "TypeScript", extension: "ts", command }, byPrograms);
    expect(failed).toEqual({});
    expect(run).toBeGreaterThan(80);
  });

  test.skipIf(!("python" in python))("in Python with the SDKs of OpenAI and Anthropic work", async () => {
    const own = operations.filter(({ operationId }) =>
      ["openai", "anthropic"].includes(sdkCalls[operationId]?.sdk ?? ""),
    );
    const command = ["python" in python ? python.python : "", join(import.meta.dir, "run_samples.py")];
    const { run, failed } = await runs.run({ label: "Python", extension: "py", command }, own);
    expect(failed).toEqual({});
    expect(run).toBeGreaterThan(25);
  });

  test("are taken, and their calls have tags", async () => {
    const token = await gateway.token({
      user: "reader",
      organisation: "readers",
      role: "owner",
      credits: 0n,
      metadata: { team: "docs" },
    });
    const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
      const answer = await fetch(gateway.url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, "x-tollgate-reason": "test" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return answer.json();
    };
    await ask("PATCH", "/admin/v1/organisations/readers", { tags: ["team", "run"] });
    await ask("POST", "/admin/v1/credits", { organisation: "readers", amount: 1_000 });
    const refused: string[] = [];
    for (const { operationId, method, path } of operations) {
      const body = sampleBodies[operationId];
      if (body === undefined || notSent[operationId] !== undefined || path.startsWith("/admin/")) continue;
      const answer = await fetch(gateway.url + samplePath({ path }), {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          "x-tollgate-reason": "test",
          "x-tollgate-tags": "run=samples",
        },
        body: JSON.stringify(body).replaceAll("https://example.com", String(gateway.banner["site"])),
      });
      if (!answer.ok) refused.push(`${operationId}: ${answer.status} ${await answer.text()}`);
      else await answer.arrayBuffer();
    }
    expect(refused).toEqual([]);
    const callsOf = async (filter: string) =>
      ((await ask("GET", `/v1/generations?limit=100${filter}`)) as { data: { operation: string; tags?: object }[] })
        .data;
    const ended = async () => new Set((await callsOf("")).map(({ operation }) => operation));
    const endLast = ["video_generation", "crawl"];
    await until("the jobs have ended", async () => (await ended()).isSupersetOf(new Set(endLast)), 60_000);
    // Whatever way its work is done, a call has the tags of its headers, and of its token.
    expect(sorted(await ended()).join(" ")).toBe(paidOperations);
    for (const { operation, tags } of await callsOf(""))
      expect([operation, tags]).toEqual([operation, { run: "samples", team: "docs" }]);
    expect(await callsOf("&tag:run=")).toEqual([]);
    expect(await callsOf("&tag:run=samples&tag:team=docs")).not.toEqual([]);
  });
});
