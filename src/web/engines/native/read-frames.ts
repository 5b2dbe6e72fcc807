import type { MemoryShare } from "../../../streaming/index.ts";
import { fetchPage } from "./fetch-page.ts";
import type { NativeDependencies } from "./native-dependencies.ts";
import type { ScrapePlan } from "./scrape-plan.ts";
import type { ScrapeTime } from "./scrape-time.ts";
import { readParts } from "./take-apart.ts";

/**
 * The content of a page's frames as HTML, by address. All of them together have as many bytes as a page may have. One that
 * can't be read, or is of another origin in the end, is left out.
 */
export async function readFrames(
  deps: NativeDependencies,
  plan: ScrapePlan,
  { addresses, memory }: { addresses: readonly string[]; memory: MemoryShare },
  time: ScrapeTime,
): Promise<Record<string, string>> {
  const frames: Record<string, string> = {};
  let bytesMax = deps.pageBytesMax;
  for (const url of addresses) {
    try {
      const { headers, languages } = plan;
      const { userAgent, outbound } = deps;
      // A frame that is slow must leave time for the page.
      const timeoutMs = Math.max(time.left() / 2, 1);
      const asked = { url, headers, languages, userAgent, bytesMax, memory, signal: time.signal, timeoutMs };
      const reply = await fetchPage(outbound, asked);
      bytesMax -= reply.bytes.length;
      if (reply.status >= 400 || new URL(reply.url).origin !== new URL(url).origin) continue;
      const { html } = await readParts(deps, reply, whole, time);
      if (html !== undefined) frames[url] = html;
    } catch (reason) {
      if (time.signal.aborted) throw reason;
    }
    if (bytesMax <= 0) break;
  }
  return frames;
}

const whole = {
  wants: { html: true },
  onlyMainContent: false,
  includeTags: [],
  excludeTags: [],
  removeBase64Images: false,
  pdf: { parse: false, pagesMax: 1 },
  frames: {},
};
