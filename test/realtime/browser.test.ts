/** A page in a real browser, which knows a client secret and nothing else. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Browser } from "playwright-core";
import { hasChromium, startChromium } from "../kit/index.ts";
import { model, realtimeScene } from "./realtime-scene.ts";

/** The script of a page: it talks over the socket that its query names, and writes what it hears into its body. */
const page = `<!doctype html><title>Voice</title><p id="log"></p><script>
  const [url, secret] = [decodeURIComponent(location.hash.slice(1).split("|")[0]), location.hash.split("|")[1]];
  const socket = new WebSocket(url, ["realtime", "openai-insecure-api-key." + secret]);
  let samples = 0;
  const show = (text) => { document.getElementById("log").textContent = text; };
  socket.onmessage = ({ data }) => {
    const event = JSON.parse(data);
    if (event.type === "session.updated") {
      // A second of a tone, and silence behind it.
      const tone = new Int16Array(24000).map((_, at) => 8000 * Math.sin(at / 10));
      const send = (pcm) => socket.send(JSON.stringify({ type: "input_audio_buffer.append",
        audio: btoa(String.fromCharCode(...new Uint8Array(pcm.buffer))) }));
      for (let at = 0; at < tone.length; at += 4800) send(tone.slice(at, at + 4800));
      send(new Int16Array(9600));
    }
    if (event.type === "response.output_audio.delta") samples += atob(event.delta).length / 2;
    if (event.type === "response.done") show("heard " + samples + " samples, protocol " + socket.protocol);
  };
  socket.onclose = ({ code }) => { if (samples === 0) show("closed " + code); };
</script>`;

describe.skipIf(!hasChromium)("a browser's page", () => {
  const scene = realtimeScene("SQLite");
  let browser: Browser;
  let server: Bun.Server<undefined>;
  beforeAll(async () => {
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response(page, { headers: { "content-type": "text/html" } }),
    });
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser.close();
    await server.stop(true);
  });

  async function shownWith(secret: string): Promise<string> {
    const tab = await browser.newPage();
    const url = `${scene.gateway.url.replace("http", "ws")}/v1/realtime?model=${model}`;
    await tab.goto(`${server.url.href}#${encodeURIComponent(url)}|${secret}`);
    await tab.waitForFunction(`document.getElementById("log").textContent !== ""`, undefined, { timeout: 10_000 });
    const text = (await tab.textContent("#log")) ?? "";
    await tab.close();
    return text;
  }

  test("speaks and hears with a client secret", async () => {
    const created = await scene.post("/v1/realtime/client_secrets", { session: { type: "realtime", model } });
    const { value } = (await created.json()) as { value: string };
    expect(await shownWith(value)).toBe("heard 24000 samples, protocol realtime");
    expect(await scene.spent()).toBeGreaterThan(20n * 64_000n);
  });

  test("gets nothing with a secret that is none", async () => {
    expect(await shownWith(`ek_000000000000_${"x".repeat(43)}`)).toBe("closed 1006");
  });
});
