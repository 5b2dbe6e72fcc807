/** The Markdown of pages as the web has them, compared with the written expectations of the test site. */
import { expect, test } from "bun:test";
import { post } from "../kit/index.ts";
import { compareMarkdown, type WebSite } from "./site/index.ts";
import { eachOf, webScene } from "./web-scene.ts";

const scene = webScene();

/** The faults in the Markdown of each page that has any. */
async function findingsOf(pages: WebSite["content"]): Promise<Record<string, string[]>> {
  const { site, scrape } = scene();
  const findings: Record<string, string[]> = {};
  await eachOf(pages, async ({ path, expected, ...rest }) => {
    const { status, data, error } = await scrape(path);
    const found =
      status === 200
        ? compareMarkdown(data.markdown ?? "", { ...rest, expected: expected.replaceAll("SITE", site.url) })
        : [`missing: everything, ${status} ${error ?? ""}`];
    if (found.length > 0) findings[path] = found;
  });
  return findings;
}

const exactSections = /^\/(?:docusaurus|sphinx|mkdocs|github|special)\//;

test("documentation and special pages give exactly their text", async () => {
  const pages = scene().site.content.filter(({ path }) => exactSections.test(path));
  expect(pages.length).toBeGreaterThan(30);
  expect(await findingsOf(pages)).toEqual({});
});

/** The main content is found by a trained model, which may err on a heading or a link of the margins. */
const missingBlocksMax = 1;
const exactShareMin = 0.6;

test("blogs, shops and forums give their text, most of them exactly", async () => {
  const pages = scene().site.content.filter(({ path }) => !exactSections.test(path));
  const findings = await findingsOf(pages);
  const exact = pages.length - Object.keys(findings).length;
  expect(exact / pages.length, JSON.stringify(findings, undefined, 1)).toBeGreaterThanOrEqual(exactShareMin);
  for (const [path, found] of Object.entries(findings)) {
    const missing = found.filter((finding) => finding.startsWith("missing: "));
    expect(missing.length, `${path}\n${missing.join("\n")}`).toBeLessThanOrEqual(missingBlocksMax);
  }
});

test("an address without a scheme is read by http if its host does not speak TLS", async () => {
  const { site, rig, caller, scrape } = scene();
  const bare = `${site.url.replace("http://", "")}/docusaurus/install`;
  const { status, data } = await scrape(bare);
  expect([status, data.metadata["sourceURL"], data.metadata["url"]]).toEqual([200, bare, `http://${bare}`]);
  const { code, error } = await scrape(`https://${bare}`);
  expect([code, error]).toEqual(["SCRAPE_SITE_ERROR", "The page: it does not speak TLS."]);
  const mapped = await post(rig, "/v2/map", caller.token, { url: bare, sitemap: "skip", limit: 1 });
  expect([mapped.status, ((await mapped.json()) as { links: object[] }).links.length]).toEqual([200, 1]);
});

test("charsets: declared in the header, in the page, wrongly, and not at all", async () => {
  const { site, scrape } = scene();
  const found: Record<string, string | undefined> = {};
  const expected: Record<string, string> = {};
  await eachOf(site.charsets, async ({ path, expected: text }) => {
    expected[path] = text;
    found[path] = (await scrape(path)).data.markdown;
  });
  expect(found).toEqual(expected);
});
