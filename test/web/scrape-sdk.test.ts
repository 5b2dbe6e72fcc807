/** Firecrawl's own SDK for JavaScript, with nothing changed but its address and its key. */
import { describe, expect, test } from "bun:test";
import { Firecrawl, SdkError } from "@mendable/firecrawl-js";
import { hasChromium } from "../kit/index.ts";
import { webScene } from "./web-scene.ts";

const scene = webScene(() => ({ web: { model: "openai/gpt-5-mini" } }));

function client(apiKey = scene().caller.token): Firecrawl {
  return new Firecrawl({ apiUrl: scene().rig.gateway.url, apiKey, maxRetries: 1, backoffFactor: 0 });
}

function address(path: string): string {
  return scene().site.url + path;
}

/** The error that the SDK throws. */
async function refusal(work: Promise<unknown>): Promise<SdkError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SdkError)) throw new Error(`no error of the SDK: ${String(error)}`);
  return error;
}

describe("scrape", () => {
  test("markdown without further options, with the page's metadata", async () => {
    const { markdown, metadata } = await client().scrape(address("/ghost/sourdough"));
    expect(markdown).toContain("A starter that doubles in four hours");
    expect(metadata).toMatchObject({
      title: "A year of sourdough in a cold kitchen",
      language: "en",
      sourceURL: address("/ghost/sourdough"),
      statusCode: 200,
    });
  });

  test("every format that needs no browser", async () => {
    const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
    const document = await client().scrape(address("/hugo/sourdough"), {
      formats: ["markdown", "html", "rawHtml", "links", "images", "summary", { type: "json", schema }],
      maxAge: 0,
    });
    expect(document.markdown).toContain("## Time instead of warmth");
    expect(document.html).toContain("<h2");
    expect(document.html).not.toContain("<footer");
    expect(document.rawHtml).toContain('<meta name="generator" content="Hugo');
    expect(document.links).toContain(address("/posts/"));
    expect(document.images).toContain(address("/img/loaves.png"));
    expect(document.summary).toBeString();
    expect(document.json).toHaveProperty("title");
  });

  test("the whole page, and chosen parts of it", async () => {
    const whole = await client().scrape(address("/hugo/sourdough"), { onlyMainContent: false });
    expect(whole.markdown).toContain("Powered by Hugo");
    const chosen = await client().scrape(address("/hugo/sourdough"), {
      includeTags: [".related"],
      onlyMainContent: false,
    });
    expect(chosen.markdown).toContain("See Also");
    expect(chosen.markdown).not.toContain("four hours");
    const without = await client().scrape(address("/hugo/sourdough"), {
      excludeTags: ["footer", "aside"],
      onlyMainContent: false,
    });
    expect(without.markdown).not.toContain("Powered by Hugo");
  });

  test("a PDF, with a limit on its pages", async () => {
    const whole = await client().scrape(address("/files/report.pdf"));
    expect(whole.markdown).toContain("The median hive on a roof");
    expect(whole.metadata).toMatchObject({ numPages: 2 });
    const first = await client().scrape(address("/files/report.pdf"), { parsers: [{ type: "pdf", maxPages: 1 }] });
    expect(first.markdown).toContain("Bees in the city");
    expect(first.markdown).not.toContain("The median hive on a roof");
  });

  test.skipIf(!hasChromium)(
    "a screenshot, at an address that anybody who knows it can read",
    async () => {
      const { screenshot = "" } = await client().scrape(address("/hugo/sourdough"), {
        formats: [{ type: "screenshot", fullPage: true }],
        timeout: 30_000,
      });
      const picture = await fetch(screenshot);
      expect([picture.status, picture.headers.get("content-type")]).toEqual([200, "image/png"]);
      expect((await picture.bytes()).slice(1, 4)).toEqual(new TextEncoder().encode("PNG"));
    },
    60_000,
  );
});

test("map lists the site, the best fit for a search first", async () => {
  const { links } = await client().map(scene().site.url, { search: "tiny garden hugo", limit: 20 });
  expect(links).toHaveLength(20);
  expect(links[0]?.url).toBe(address("/hugo/tiny-garden"));
});

describe("errors", () => {
  test("a token that is unknown", async () => {
    expect((await refusal(client("tg_unknown").scrape(address("/")))).status).toBe(401);
  });

  test("an address inside the operator's network", async () => {
    const error = await refusal(client().scrape("http://169.254.169.254/latest/meta-data/"));
    expect([error.status, error.code]).toEqual([422, "address_refused"]);
  });

  test("a member that is not supported is named", async () => {
    const error = await refusal(client().scrape(address("/"), { formats: ["branding"] }));
    expect(error.status).toBe(422);
    expect(error.message).toContain("formats.0");
  });

  test("a target that cannot be reached, or is too slow", async () => {
    const reset = await refusal(client().scrape(address("/hostile/reset")));
    expect(reset.code).toBe("SCRAPE_SITE_ERROR");
    const slow = await refusal(client().scrape(address("/hostile/silent"), { timeout: 1_000 }));
    expect([slow.status, slow.code]).toEqual([408, "SCRAPE_TIMEOUT"]);
    const map = await refusal(client().map(address("/hostile/silent"), { timeout: 1_000 }));
    expect([map.status, map.code]).toEqual([408, "MAP_TIMEOUT"]);
  });

  test("a balance that is used up", async () => {
    const token = await scene().rig.gateway.token({ user: "poor", credits: 0n });
    expect((await refusal(client(token).scrape(address("/")))).status).toBe(402);
  });
});
