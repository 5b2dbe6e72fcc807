/** A process with a browser that renders the page of its argument, prints its status and waits to be killed. */
import { browserWith } from "./browser-scene.ts";

const [url = ""] = process.argv.slice(2);
const browser = browserWith({ allowPrivateHosts: [new URL(url).host] });
const { status } = await browser.render({ owner: "alice", url, timeoutMs: 50_000 });
console.log(status);
// Keeps the process alive.
setInterval(() => undefined, 60_000);
