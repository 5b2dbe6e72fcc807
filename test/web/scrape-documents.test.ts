/** Encodings, documents, redirects and scripts: how a page comes, whatever its content. */
import { afterAll, describe, expect, test } from "bun:test";
import { hasChromium } from "../kit/index.ts";
import { eachOf, webScene } from "./web-scene.ts";

/** Answers with a status and a header that only browsers accept. */
const odd = Bun.listen({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    data(socket) {
      const page = `<title>Odd</title><h1>Odd</h1><p>${"A server that has its own idea of HTTP. ".repeat(10)}`;
      socket.end(`HTTP/1.1 999 Denied\r\ncontent-type: text/html\r\nno header\r\nconnection: close\r\n\r\n${page}`);
    },
  },
});
afterAll(() => odd.stop(true));
const oddHost = `127.0.0.1:${odd.port}`;

const scene = webScene(({ url }) => ({ web: { allow_private_hosts: [new URL(url).host, oddHost] } }));

test("content encodings", async () => {
  const { site, scrape } = scene();
  const { markdown } = (await scrape(site.target.path)).data;
  await eachOf(site.encoded, async (path) => {
    const { status, data, error } = await scrape(path);
    expect([path, status, error]).toEqual([path, 200, undefined]);
    expect(data.markdown, path).toBe(markdown ?? "");
  });
});

test("documents keep their texts in reading order", async () => {
  const { site, scrape } = scene();
  await eachOf(site.documents, async ({ path, contains }) => {
    const { status, data, error } = await scrape(path);
    expect([path, status, error]).toEqual([path, 200, undefined]);
    const text = (data.markdown ?? "").replaceAll(/[ \n]+/g, " ");
    let at = 0;
    for (const part of contains) {
      const found = text.indexOf(part, at);
      expect(found, `${path}: ${part}\n${data.markdown ?? ""}`).toBeGreaterThanOrEqual(at);
      at = found + part.length;
    }
  });
});

test("redirects are followed, and the answer names both addresses", async () => {
  const { site, scrape } = scene();
  const { markdown } = (await scrape(site.target.path)).data;
  await eachOf(site.goodRedirects, async (path) => {
    const { status, data, error } = await scrape(path);
    expect([path, status, error]).toEqual([path, 200, undefined]);
    expect(data.metadata, path).toMatchObject({ sourceURL: site.url + path, statusCode: 200 });
    expect(String(data.metadata["url"]).split("#")[0]).toBe(site.url + site.target.path);
    expect(data.markdown, path).toBe(markdown ?? "");
  });
});

describe.skipIf(!hasChromium)("pages that scripts make", () => {
  test("are rendered", async () => {
    const { site, scrape } = scene();
    const pages = site.scripted.filter(({ path }) => path !== "/app/on-click" && path !== "/app/late");
    for (const { path, contains } of pages) {
      const { data, error } = await scrape(path, { timeout: 30_000 });
      expect([path, error]).toEqual([path, undefined]);
      for (const text of contains) expect(data.markdown, path).toContain(text);
    }
  });

  test("are no documents that a browser shows in a page of its own", async () => {
    const { scrape } = scene();
    for (const path of ["/files/data.json", "/files/feed.xml", "/files/note.txt"]) {
      const plain = await scrape(path);
      const waited = await scrape(path, { waitFor: 1, formats: ["markdown", "screenshot"], timeout: 30_000 });
      expect(waited.data.markdown, path).toBe(plain.data.markdown ?? "");
      expect(waited.data["screenshot"], path).toBeString();
    }
  });

  test("are not the only ones: a browser reads answers that are no valid HTTP", async () => {
    const { data } = await scene().scrape(`http://${oddHost}/`, { timeout: 30_000 });
    expect(data.markdown).toContain("A server that has its own idea of HTTP.");
    expect(data.metadata["statusCode"]).toBe(999);
  });

  test("after a wait, or a click", async () => {
    const { scrape } = scene();
    const late = await scrape("/app/late", { waitFor: 1_000, timeout: 30_000 });
    expect(late.data.markdown).toContain("# Rendered late");
    const actions = [
      { type: "wait", selector: "#more" },
      { type: "click", selector: "#more" },
    ];
    const clicked = await scrape("/app/on-click", { actions, timeout: 30_000 });
    expect(clicked.data.markdown).toContain("# Rendered on a click");
  });
});
