/** Pages that only a browser can show, and what a scrape gets of them. */
import { describe, expect, test } from "bun:test";
import { browserMs, browserScene, hasNoBrowser, html, textOf } from "./browser-scene.ts";

describe.skipIf(hasNoBrowser)("a page", () => {
  const { promise: never } = Promise.withResolvers<Response>();
  const scene = browserScene((_, { pathname }) => {
    switch (pathname) {
      case "/script":
        return html(`<title>t</title><p id="p">empty</p><script>
          setTimeout(() => { document.getElementById("p").textContent = "by script"; }, 20);</script>`);
      case "/late":
        return html(`<p id="p">early</p><script>
          setTimeout(() => { document.getElementById("p").textContent = "late"; }, 2500);</script>`);
      case "/shadow":
        return html(`<x-card></x-card><script>customElements.define("x-card", class extends HTMLElement {
          constructor() { super(); this.attachShadow({ mode: "open" }).innerHTML = "<b>inside</b>"; } });</script>`);
      case "/closed":
        return html(`<x-card></x-card><script>customElements.define("x-card", class extends HTMLElement {
          constructor() { super(); this.attachShadow({ mode: "closed" }).innerHTML = "<b>inside</b>"; } });
          try { document.body.attachShadow({ mode: "ajar" }); } catch (reason) { document.title = reason.name; }
          document.body.className = /native code/.test(Element.prototype.attachShadow);</script>`);
      case "/unseen":
        return html(`<style>.box .gone { display: none } .far { position: absolute; left: -3000px }
          .thin { height: 0; overflow: hidden } .point { position: absolute; width: 1px; height: 1px; overflow: hidden }</style>
          <div class="box"><p class="gone">display</p></div><p class="far">far</p><div class="thin">thin</div><p class="point">point</p>
          <div id="s">script</div><div style="visibility:hidden">visibility <b style="visibility:visible">seen</b></div>
          <p id="p">shown</p><details><summary>s</summary><div style="overflow:hidden">folded</div></details>
          <iframe srcdoc="<p>in a frame</p>"></iframe><iframe src="/framed"></iframe>
          <script>document.getElementById("s").style.display = "none"</script>`);
      case "/framed":
        return html(`<p id="q">x</p><script>q.textContent = "framed by script"</script>`);
      case "/empty-404":
        return new Response(null, { status: 404, headers: { "content-type": "text/html" } });
      case "/404":
        return new Response("<h1>not here</h1>", { status: 404, headers: { "content-type": "text/html" } });
      case "/redirect":
        return Response.redirect("/script", 302);
      case "/by-script":
        return html(`<script>location.href = "/script"</script>`);
      case "/latin1":
        return new Response(Buffer.from("<p>caf\u00e9</p>", "latin1"), {
          headers: { "content-type": "text/html; charset=iso-8859-1" },
        });
      case "/alert":
        return html(`<p>before</p><script>alert(1); confirm(2); prompt(3); document.write("<p>after</p>");
          onbeforeunload = () => "stay";</script>`);
      case "/hanging":
        return html(`<p>here</p><img src="/never">`);
      case "/never":
        return never;
      case "/reloading":
        return html(`<p>again</p><script>setTimeout(() => location.reload(), 1)</script>`);
      case "/endless":
        return endless();
      case "/loop":
        return html(`<p>x</p><script>while (true);</script>`);
      case "/agent":
        return html(`<p id="p"></p><script>document.getElementById("p").textContent = JSON.stringify({
          agent: navigator.userAgent, languages: navigator.languages, touch: navigator.maxTouchPoints > 0,
          zone: Intl.DateTimeFormat().resolvedOptions().timeZone, width: screen.width });</script>`);
      default:
        return undefined;
    }
  });

  test(
    "is what its scripts make of it",
    async () => {
      const page = await scene.render("/script");
      expect(page).toMatchObject({
        url: scene.site.url("/script"),
        status: 200,
        contentType: "text/html; charset=utf-8",
      });
      expect(textOf(page.html)).toContain(`<p id="p">by script</p>`);
    },
    browserMs,
  );

  test(
    "is awaited as long as the request says",
    async () => {
      expect(textOf((await scene.render("/late", { waitForMs: 3_000 })).html)).toContain(">late<");
    },
    browserMs,
  );

  test(
    "contains what its components show",
    async () => {
      expect(textOf((await scene.render("/shadow")).html)).toContain("<b>inside</b>");
      const closed = textOf((await scene.render("/closed")).html);
      for (const part of ["<b>inside</b>", "<title>TypeError</title>", 'class="true"']) expect(closed).toContain(part);
    },
    browserMs,
  );

  test(
    "has marks at what its computed styles hide, and the documents of its frames",
    async () => {
      const text = textOf((await scene.render("/unseen")).html);
      const marked = [...text.matchAll(/data-tollgate-hidden="(folded|away)"[^>]*>([a-z]+)/g)].map(
        ([, way, word]) => `${word} ${way}`,
      );
      expect(marked).toEqual(["display folded", "far away", "thin folded", "point away", "script folded"]);
      expect(text).toMatch(/<iframe src="\/framed" data-tollgate-frame="[^"]*framed by script/);
      expect(text).toContain("in a frame");
    },
    browserMs,
  );

  test(
    "of an error is an answer, with a body or without",
    async () => {
      expect(await scene.render("/404")).toMatchObject({ status: 404 });
      const empty = await scene.render("/empty-404");
      expect([empty.status, empty.url]).toEqual([404, scene.site.url("/empty-404")]);
      expect(textOf(empty.html)).not.toMatch(/>[^<]/);
    },
    browserMs,
  );

  test.each(["/redirect", "/by-script"])(
    "behind a redirection is the last one: %s",
    async (path) => {
      const page = await scene.render(path);
      expect([page.url, page.status]).toEqual([scene.site.url("/script"), 200]);
      expect(textOf(page.html)).toContain("by script");
    },
    browserMs,
  );

  test(
    "in another charset becomes UTF-8",
    async () => {
      expect(textOf((await scene.render("/latin1")).html)).toContain("<p>caf\u00e9</p>");
    },
    browserMs,
  );

  test(
    "with dialogs goes on",
    async () => {
      expect(textOf((await scene.render("/alert")).html)).toContain("<p>after</p>");
    },
    browserMs,
  );

  test.each(["/hanging", "/endless", "/reloading"])(
    "that never ends counts as it is: %s",
    async (path) => {
      const page = await scene.render(path, { timeoutMs: 12_000 });
      expect(textOf(page.html)).toMatch(/<p>(here|more|again)<\/p>/);
    },
    browserMs,
  );

  test(
    "with an endless script ends at the time-out, and the next one is not affected",
    async () => {
      expect(await scene.failureOf("/loop", { timeoutMs: 3_000 })).toMatchObject({ failure: "timeout" });
      expect((await scene.render("/404")).status).toBe(404);
    },
    browserMs,
  );

  test(
    "sees a phone, a country and a language if the request says so",
    async () => {
      const read = async (request: object): Promise<Record<string, unknown>> => {
        const { html: bytes } = await scene.render("/agent", request);
        return JSON.parse(/<p id="p">(.*?)<\/p>/.exec(textOf(bytes))?.[1] ?? "") as Record<string, unknown>;
      };
      const { agent: desktop, ...desktopFacts } = await read({});
      expect(desktop).toMatch(/X11; Linux.* Chrome\/\d+\.0\.0\.0 Safari/);
      expect(desktopFacts).toEqual({
        languages: ["en-US", "en"],
        touch: false,
        zone: "America/New_York",
        width: 1_920,
      });
      const { agent: phone, ...phoneFacts } = await read({ mobile: true, location: { country: "DE" } });
      expect(phone).toMatch(/Android.* Mobile Safari/);
      expect(phoneFacts).toEqual({ languages: ["de-DE", "de"], touch: true, zone: "Europe/Berlin", width: 412 });
      const [last] = scene.site.at("/agent").slice(-1);
      expect(last?.headers.get("accept-language")).toStartWith("de-DE,de;q=0.9");
    },
    browserMs,
  );
});

/** A document that grows without end. */
function endless(): Response {
  const more = new TextEncoder().encode("<p>more</p>".repeat(100));
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      controller.enqueue(more);
      await Bun.sleep(20);
    },
  });
  return new Response(body, { headers: { "content-type": "text/html" } });
}
