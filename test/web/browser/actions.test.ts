/** Every action of Firecrawl's API, and pictures. */
import { describe, expect, test } from "bun:test";
import type { PageAction } from "../../../src/browser/index.ts";
import { until } from "../../kit/index.ts";
import { browserMs, browserScene, hasNoBrowser, html, textOf } from "./browser-scene.ts";
import { pictureOf } from "./picture.ts";

const page = `<!doctype html><title>form</title>
  <style>body { margin: 0; background: #0a0; } #box { height: 100px; overflow: auto; } .high { height: 3000px; }</style>
  <input id="name"><button id="go">go</button><button class="each">1</button><button class="each">2</button>
  <p id="out"></p><div id="box"><div class="high">inner</div></div><div class="high">outer</div>
  <a id="next" href="/next">next</a><div id="cover" style="position: fixed; inset: 0; display: none"></div>
  <script>
    const out = document.getElementById("out");
    const say = (text) => { out.textContent += text + ";"; };
    document.getElementById("go").onclick = () => {
      say("clicked " + document.getElementById("name").value);
      setTimeout(() => { document.body.insertAdjacentHTML("beforeend", "<p id=later>later</p>"); }, 200);
    };
    for (const each of document.querySelectorAll(".each")) each.onclick = () => say("each " + each.textContent);
    document.getElementById("name").onkeydown = ({ key }) => { if (key === "Enter") say("enter"); };
  </script>`;

describe.skipIf(hasNoBrowser)("an action", () => {
  const scene = browserScene((_, { pathname }) => {
    if (pathname === "/form") return html(page);
    if (pathname === "/next") return html(`<title>next</title><p>next page</p>`);
    if (pathname === "/high")
      return html(`<!doctype html><body style="margin: 0"><div style="height: 40000px">high</div>`);
    return undefined;
  });

  const act = async (
    actions: PageAction[],
  ): Promise<{ out: string; actions: Awaited<ReturnType<typeof render>>["actions"] }> => {
    const rendered = await render(actions);
    return { out: /<p id="out">(.*?)<\/p>/.exec(textOf(rendered.html))?.[1] ?? "", actions: rendered.actions };
  };
  const render = (actions: PageAction[]) => scene.render("/form", { actions, timeoutMs: 60_000 });

  test.concurrent(
    "works like a user's: click, write, press, wait",
    async () => {
      const { out } = await act([
        { type: "click", selector: "#name" },
        { type: "write", text: "Ada \u{1F600}" },
        { type: "press", key: "Enter" },
        { type: "click", selector: "#go" },
        { type: "wait", selector: "#later" },
        { type: "wait", milliseconds: 10 },
        { type: "click", selector: ".each", all: true },
        { type: "click", selector: ".none", all: true },
      ]);
      expect(out).toBe("enter;clicked Ada \u{1F600};each 1;each 2;");
    },
    browserMs,
  );

  test.concurrent(
    "clicks also what something else covers",
    async () => {
      const { out } = await act([
        { type: "executeJavascript", script: `document.getElementById("cover").style.display = "block"` },
        { type: "click", selector: ".each" },
      ]);
      expect(out).toBe("each 1;");
    },
    browserMs,
  );

  test.concurrent(
    "scrolls the page or an element, up and down",
    async () => {
      const position = `[scrollY, document.getElementById("box").scrollTop]`;
      const { actions } = await act([
        { type: "scroll" },
        { type: "executeJavascript", script: position },
        { type: "scroll", direction: "up" },
        { type: "scroll", direction: "down", selector: "#box" },
        { type: "executeJavascript", script: position },
      ]);
      expect(actions?.javascriptReturns.map(({ value }) => value)).toEqual([
        [1_080, 0],
        [0, 100],
      ]);
    },
    browserMs,
  );

  test.concurrent(
    "returns what scripts return, with its type",
    async () => {
      const scripts = [
        "1 + 1",
        "document.title",
        "({ a: [1, { b: null }] })",
        "undefined",
        "await new Promise((resolve) => setTimeout(() => resolve(true), 5))",
        "const x = 5; return x * 2;",
        "const x = 6; x",
        "document.body",
        "null",
      ];
      const { actions } = await act(scripts.map((script) => ({ type: "executeJavascript", script })));
      expect(actions?.javascriptReturns.map(({ type, value }) => [type, value])).toEqual([
        ["number", 2],
        ["string", "form"],
        ["object", { a: [1, { b: null }] }],
        ["undefined", undefined],
        ["boolean", true],
        ["number", 10],
        ["number", 6],
        ["object", {}],
        ["object", null],
      ]);
    },
    browserMs,
  );

  test.concurrent(
    "sees the page between the others: scrape, screenshot, pdf",
    async () => {
      const { actions } = await act([
        { type: "scrape" },
        { type: "click", selector: "#next" },
        { type: "scrape" },
        { type: "screenshot", viewport: { width: 500, height: 300 } },
        { type: "screenshot", quality: 40 },
        { type: "pdf", format: "A4", landscape: true, scale: 0.5 },
      ]);
      const [before, after] = actions?.scrapes ?? [];
      expect([before?.url, after?.url]).toEqual([scene.site.url("/form"), scene.site.url("/next")]);
      expect(textOf(before?.html ?? new Uint8Array())).toContain(`<p id="out"></p>`);
      expect(textOf(after?.html ?? new Uint8Array())).toContain("next page");
      expect(actions?.screenshots.map((each) => [each.type, pictureOf(each.bytes)])).toEqual([
        ["image/png", { format: "png", width: 500, height: 300 }],
        ["image/jpeg", { format: "jpeg", width: 1_920, height: 1_080 }],
      ]);
      expect(Buffer.from(actions?.pdfs[0] ?? []).toString("latin1")).toStartWith("%PDF-");
    },
    browserMs,
  );

  test.concurrent(
    "that fails is named by its index",
    async () => {
      const failing: [PageAction, RegExp][] = [
        [{ type: "executeJavascript", script: "throw new Error('on purpose')" }, /Error: on purpose$/],
        [{ type: "executeJavascript", script: "const = 1" }, /SyntaxError/],
        [{ type: "executeJavascript", script: "const a = {}; a.a = a; a" }, /cannot be written as JSON/],
        [{ type: "executeJavascript", script: "'x'.repeat(2e6)" }, /longer than/],
        [{ type: "press", key: "NoSuchKey" }, /Unknown key/],
        [{ type: "click", selector: "p[" }, /p\[/],
        [{ type: "pdf", scale: 7 }, /scale/],
      ];
      for (const [action, message] of failing) {
        const failure = await scene.failureOf("/form", { actions: [{ type: "wait", milliseconds: 1 }, action] });
        expect([failure.failure, failure.action]).toEqual(["action", 1]);
        expect(failure.message).toMatch(message);
      }
    },
    2 * browserMs,
  );

  test.concurrent(
    "on an element that never appears ends",
    async () => {
      const actions: PageAction[] = [{ type: "click", selector: "#nowhere" }];
      const failure = await scene.failureOf("/form", { actions, timeoutMs: 2 * browserMs });
      expect(failure).toMatchObject({
        failure: "action",
        action: 0,
        message: "action 0 (click) failed: there is no such element",
      });
    },
    3 * browserMs,
  );

  test.concurrent(
    "that never ends is ended by the time-out",
    async () => {
      const actions: PageAction[] = [{ type: "executeJavascript", script: "while (true);" }];
      // The other tests have their pages at the same time.
      const { failure } = await until("a page is free", async () => {
        const ended = await scene.failureOf("/form", { actions, timeoutMs: 6_000 });
        return ended.failure !== "busy" && ended;
      });
      expect(failure).toBe("timeout");
    },
    browserMs,
  );

  test.concurrent(
    "picture has the size of the viewport, of a phone, or of the whole page within a bound",
    async () => {
      const shot = async (path: string, request: object) => {
        const { screenshot } = await scene.render(path, request);
        return pictureOf(screenshot?.bytes ?? new Uint8Array());
      };
      const viewport = { width: 640, height: 400 };
      expect(await shot("/form", { screenshot: {} })).toEqual({ format: "png", width: 1_920, height: 1_080 });
      expect(await shot("/form", { screenshot: { viewport, quality: 1 } })).toEqual({ format: "jpeg", ...viewport });
      expect(await shot("/next", { screenshot: {}, mobile: true })).toMatchObject({ width: 412 });
      const whole = await shot("/form", { screenshot: { viewport, fullPage: true } });
      expect([whole.width, whole.height > 3_000, whole.height < 3_500]).toEqual([640, true, true]);
      expect(await shot("/high", { screenshot: { viewport, fullPage: true } })).toMatchObject({
        width: 640,
        height: 16_384,
      });
    },
    2 * browserMs,
  );
});
