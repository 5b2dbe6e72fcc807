/** PDFs whose pages are pictures, read by the model of `web.vision_model`. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { makePdf, type Text } from "../../src/pages/documents/__fixtures__/pdf.ts";
import {
  type Caller,
  creditsText,
  expectCleanAudit,
  generationOf,
  oneCredit,
  post,
  type Rig,
  startRig,
  until,
} from "../kit/index.ts";

const PAGE = oneCredit / 1_000n;
const MODEL = "gpt-5-mini";

/** Black above, white below. */
const scan = { width: 2, samples: Uint8Array.from([0, 0, 255, 255]) };
const text: Text[] = [[50, 700, 12, "The text of this page is in the file."]];
const files: Readonly<Record<string, Uint8Array>> = {
  "/copy.pdf": makePdf([[], []], { scan }),
  "/scan.pdf": makePdf([[], []], { scan }),
  "/mixed.pdf": makePdf([text, [], text], { scan }),
  "/blank.pdf": makePdf([[]]),
};

let site: Bun.Server<undefined>;
let rig: Rig;
beforeAll(async () => {
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      new Response(Uint8Array.from(files[new URL(url).pathname] ?? []), {
        headers: { "content-type": "application/pdf" },
      }),
  });
  rig = await startRig({
    config: {
      pricing: { models: { "openai/*": { input_mtok: 1, output_mtok: 2 } } },
      web: { allow_private_hosts: [`127.0.0.1:${site.port}`], vision_model: `openai/${MODEL}` },
    },
  });
});
afterAll(async () => {
  await rig.stop();
  await site.stop(true);
});

interface Page {
  markdown: string;
  metadata: { creditsUsed: number };
}

interface Scanned {
  answer: Response;
  markdown: string;
  warning: string | undefined;
  creditsUsed: number;
  /** Pictures that the model has got. */
  pictures: number;
}

async function scrape(caller: Caller, path: string, options: object = {}): Promise<Scanned> {
  const before = rig.received(MODEL).length;
  const url = `http://127.0.0.1:${site.port}${path}`;
  const answer = await post(rig, "/v2/scrape", caller.token, { url, ...options });
  const { data } = (await answer.json()) as {
    data?: { markdown?: string; warning?: string; metadata: { creditsUsed: number } };
  };
  const asked = rig.received(MODEL).slice(before);
  const isPicture = (body: unknown): boolean => JSON.stringify(body).includes("data:image/png;base64,");
  expect(asked.every(({ body }) => isPicture(body))).toBe(true);
  const { markdown = "", warning, metadata } = data ?? {};
  return { answer, markdown, warning, creditsUsed: metadata?.creditsUsed ?? 0, pictures: asked.length };
}

const modeOf = (mode: string, rest: object = {}) => ({ maxAge: 0, parsers: [{ type: "pdf", mode, ...rest }] });

test("each page that is a picture costs its price and, as a child, the model's call; from the cache no call", async () => {
  const caller = await rig.caller();
  const first = await scrape(caller, "/scan.pdf");
  expect([first.answer.status, first.pictures, first.warning]).toEqual([200, 2, undefined]);
  expect(first.markdown.length).toBeGreaterThan(0);
  const spent = await caller.closed();
  expect(spent).toBeGreaterThan(2n * PAGE);
  expect(String(first.creditsUsed)).toBe(creditsText(spent));
  expect(first.answer.headers.get("x-tollgate-credits")).toBe(creditsText(spent));
  const id = first.answer.headers.get("x-request-id");
  const listed = await fetch(`${rig.gateway.url}/v1/generations?parent_id=${id}`, {
    headers: { authorization: `Bearer ${caller.token}` },
  });
  const { data: calls } = (await listed.json()) as { data: object[] };
  expect(calls).toHaveLength(2);
  for (const call of calls) expect(call).toMatchObject({ model: `openai/${MODEL}`, parent_id: id });
  expect((await generationOf(rig, caller, first.answer))["credits"]).toBe(0.002);

  const again = await scrape(caller, "/scan.pdf");
  expect([again.pictures, again.markdown, again.creditsUsed]).toEqual([0, first.markdown, 0.002]);
  await expectCleanAudit(rig.gateway);
});

test("auto reads only pages without text from their pictures, fast none, ocr all, and maxPages bounds them", async () => {
  const caller = await rig.caller();
  const auto = await scrape(caller, "/mixed.pdf", modeOf("auto"));
  expect([auto.pictures, auto.warning]).toEqual([1, undefined]);
  expect(auto.markdown.split("The text of this page").length).toBe(3);
  const fast = await scrape(caller, "/mixed.pdf", modeOf("fast"));
  expect([fast.pictures, fast.creditsUsed]).toEqual([0, 0.003]);
  // The second page has been read already.
  const ocr = await scrape(caller, "/mixed.pdf", modeOf("ocr", { maxPages: 2 }));
  expect([ocr.pictures, ocr.warning]).toEqual([1, "2 of 3 pages were read"]);
  expect(ocr.markdown).not.toContain("The text of this page is in the file.");
  const blank = await scrape(caller, "/blank.pdf", modeOf("auto"));
  expect([blank.answer.status, blank.pictures, blank.creditsUsed]).toEqual([200, 0, 0.001]);
});

test("requests for one document at the same time ask about each page once, and so do copies of it and crawls", async () => {
  const caller = await rig.caller();
  const before = rig.received(MODEL).length;
  const asked = (): number => rig.received(MODEL).length - before;
  const bodyOf = async (path: string, body: object): Promise<Record<string, unknown>> =>
    (await (await post(rig, path, caller.token, body)).json()) as Record<string, unknown>;
  const scrapes = ["/scan.pdf", "/scan.pdf?again", "/copy.pdf"].map((path) =>
    bodyOf("/v2/scrape", { url: `http://127.0.0.1:${site.port}${path}`, maxAge: 0 }),
  );
  const form = new FormData();
  form.append("file", new Blob([Uint8Array.from(files["/copy.pdf"] ?? [])], { type: "application/pdf" }), "copy.pdf");
  const parsed = post(rig, "/v2/parse", caller.token, form).then((answer) => answer.json());
  const documents = [...(await Promise.all(scrapes)), (await parsed) as object].map(
    (answer) => answer as { data: Page },
  );
  const [first, ...others] = documents.map(({ data }) => data.markdown);
  expect([asked(), others.every((markdown) => markdown === first), first === ""]).toEqual([2, true, false]);
  // Each costs its pages, and one of them the model's calls.
  const costs = documents.map(({ data }) => data.metadata.creditsUsed).toSorted((a, b) => a - b);
  expect(costs.slice(0, 3)).toEqual([0.002, 0.002, 0.002]);
  expect(costs[3]).toBeGreaterThan(0.002);

  const { id } = await bodyOf("/v2/batch/scrape", { urls: [`http://127.0.0.1:${site.port}/copy.pdf`], maxAge: 0 });
  const job = await until("the batch has ended", async () => {
    const headers = { authorization: `Bearer ${caller.token}` };
    const answer = await fetch(`${rig.gateway.url}/v2/batch/scrape/${String(id)}`, { headers });
    const status = (await answer.json()) as { status: string; creditsUsed: number; data: Page[] };
    return status.status !== "scraping" && status;
  });
  expect([job.data[0]?.markdown, job.creditsUsed, asked()]).toEqual([first, 0.002, 2]);

  // Another user's pages are read for that user.
  const other = await rig.caller();
  const theirs = await scrape(other, "/copy.pdf");
  expect([theirs.pictures, theirs.markdown]).toEqual([2, first ?? ""]);
  await expectCleanAudit(rig.gateway);
});

test("a request that keeps nothing leaves no text behind", async () => {
  const caller = await rig.caller();
  const options = { maxAge: 0, storeInCache: false };
  expect((await scrape(caller, "/scan.pdf", options)).pictures).toBe(2);
  expect((await scrape(caller, "/scan.pdf", options)).pictures).toBe(2);
});

test("a caller who cannot pay for the pages gets 402 before the model is asked", async () => {
  const token = await rig.gateway.token({ user: "poor", credits: PAGE });
  const poor = { ...(await rig.caller()), token };
  const { answer, pictures } = await scrape(poor, "/scan.pdf", { maxAge: 0 });
  expect([answer.status, pictures]).toEqual([402, 0]);
});
