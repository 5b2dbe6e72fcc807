/** What a caller gives to a page reaches this page only, and nothing of a scrape is there in the next one. */
import { afterAll, describe, expect, test } from "bun:test";
import { browserMs, browserScene, hasNoBrowser, html, Site, textOf } from "./browser-scene.ts";

describe.skipIf(hasNoBrowser)("a scrape", () => {
  const other = new Site((_, { pathname }) =>
    html(`<p>other ${pathname}</p>`, { "access-control-allow-origin": "*", "access-control-allow-headers": "*" }),
  );
  const scene = browserScene(
    (request, { pathname }) => {
      switch (pathname) {
        case "/mixed":
          return html(`<img src="/own.png"><img src="${other.url("/other.png")}"><iframe src="${other.url("/frame")}"></iframe>
            <script>fetch("/own-fetch"); fetch("${other.url("/other-fetch")}");</script>`);
        case "/to-other":
          return Response.redirect(other.url("/redirected"), 302);
        case "/to-own":
          return Response.redirect("/landed", 302);
        case "/remember":
          return html(
            `<p id="p"></p><script type="module">
            const seen = [document.cookie, localStorage.getItem("a"), sessionStorage.getItem("a")];
            const stored = await new Promise((resolve) => { const open = indexedDB.open("db", 1);
              open.onupgradeneeded = () => open.result.createObjectStore("s"); open.onsuccess = () => resolve(open.result); });
            const get = stored.transaction("s").objectStore("s").get("a");
            seen.push(await new Promise((resolve) => { get.onsuccess = () => resolve(get.result ?? null); }));
            seen.push((await caches.keys()).length);
            seen.push((await navigator.serviceWorker.getRegistrations()).length);
            document.getElementById("p").textContent = JSON.stringify(seen);
            document.cookie = "page=1"; localStorage.setItem("a", "1"); sessionStorage.setItem("a", "1");
            stored.transaction("s", "readwrite").objectStore("s").put("1", "a"); await caches.open("c");
            navigator.serviceWorker.register("/worker.js").catch(() => 0);
          </script>`,
            { "set-cookie": "sent=1; Max-Age=999", "cache-control": "max-age=999" },
          );
        case "/worker.js":
          return new Response("", { headers: { "content-type": "text/javascript" } });
        case "/permissions":
          return html(`<p id="p"></p><script type="module">
            const names = ["geolocation", "notifications", "camera", "microphone", "clipboard-read"];
            const states = await Promise.all(names.map(async (name) => (await navigator.permissions.query({ name })).state));
            document.getElementById("p").textContent = JSON.stringify(states);</script>`);
        case "/echo":
          return html(`<p id="p">${JSON.stringify(Object.fromEntries(request.headers))}</p>`);
        case "/file":
          return new Response("bytes", { headers: { "content-type": "application/zip" } });
        case "/attached":
          return html("<p>to be saved</p>", { "content-disposition": "attachment; filename=x.html" });
        case "/pdf":
          return new Response("%PDF-1.4", { headers: { "content-type": "application/pdf" } });
        case "/nothing":
          return new Response(null, { status: 204 });
        case "/saves":
          return html(
            `<p>page</p><a id="a" download href="/file">x</a><script>document.getElementById("a").click()</script>`,
          );
        case "/opens":
          return html(`<p>page</p><script>open("/echo"); open("about:blank")</script>`);
        default:
          return undefined;
      }
    },
    { allowPrivateHosts: ["127.0.0.1:*"] },
  );

  const shownBy = async (path: string, request: object = {}): Promise<unknown> => {
    const { html: bytes } = await scene.render(path, request);
    return JSON.parse((/<p id="p">(.*?)<\/p>/.exec(textOf(bytes))?.[1] ?? "").replaceAll("&quot;", '"'));
  };

  test(
    "leaves nothing behind",
    async () => {
      const nothing = ["sent=1", null, null, null, 0, 0];
      expect(await shownBy("/remember")).toEqual(nothing);
      expect(await shownBy("/remember")).toEqual(nothing);
      // Not from a cache, either.
      expect(scene.site.at("/remember").map(({ headers }) => headers.get("cookie"))).toEqual([null, null]);
    },
    browserMs,
  );

  test(
    "asks for no permission",
    async () => {
      const states = (await shownBy("/permissions")) as string[];
      expect(states.filter((state) => state === "granted")).toEqual([]);
    },
    browserMs,
  );

  test(
    "sends the caller's headers to the page's own origin only",
    async () => {
      const headers = {
        authorization: "Bearer x",
        "X-Key": "k",
        cookie: "session=9; b=2",
        host: "evil.test",
        "proxy-authorization": "p",
      };
      await scene.render("/mixed", { headers });
      await scene.render("/to-other", { headers });
      await scene.render("/to-own", { headers });
      const facts = (seen: Headers | undefined): unknown =>
        ["authorization", "x-key", "cookie", "host"].map((name) => seen?.get(name));
      for (const path of ["/mixed", "/own.png", "/own-fetch", "/to-other", "/to-own", "/landed"]) {
        const [seen] = scene.site.at(path);
        expect([path, facts(seen?.headers)]).toEqual([path, ["Bearer x", "k", "session=9; b=2", scene.site.host]]);
      }
      for (const path of ["/other.png", "/frame", "/other-fetch", "/redirected"]) {
        const [seen] = other.at(path);
        // A cookie belongs to a host, whatever its port; another host would get none.
        expect([path, seen?.headers.get("authorization"), seen?.headers.get("x-key")]).toEqual([path, null, null]);
      }
      const all = [...scene.site.seen, ...other.seen].flatMap(({ headers: each }) => [...each.keys()]);
      expect(all.filter((name) => name.startsWith("proxy-"))).toEqual([]);
    },
    2 * browserMs,
  );

  test(
    "uses the caller's user agent everywhere",
    async () => {
      await shownBy("/echo", { headers: { "User-Agent": "crawler/1.0" } });
      expect(scene.site.at("/echo").at(-1)?.headers.get("user-agent")).toBe("crawler/1.0");
    },
    browserMs,
  );

  test.each(["/file", "/attached", "/pdf", "/nothing"])(
    "of what is no page says so: %s",
    async (path) => {
      expect(await scene.failureOf(path)).toMatchObject({ failure: "not_a_page" });
    },
    browserMs,
  );

  test.each(["/saves", "/opens"])(
    "stays with its page: %s",
    async (path) => {
      const page = await scene.render(path);
      expect([page.url, textOf(page.html).includes("<p>page</p>")]).toEqual([scene.site.url(path), true]);
    },
    browserMs,
  );

  test.each([
    "file:///etc/passwd",
    "chrome://version/",
    "view-source:http://a.test/",
    "javascript:1",
    "data:text/html,x",
    "http://a:b@a.test/",
  ])(
    "of another kind of address is refused: %s",
    async (url) => {
      const refused = scene.browser.render({ owner: "alice", url, timeoutMs: 30_000 });
      expect(
        await refused.then(
          () => "rendered",
          (error: { failure: string }) => error.failure,
        ),
      ).toBe("refused");
    },
    browserMs,
  );
  afterAll(() => other.server.stop(true));
});
