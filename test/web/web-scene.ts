/** A gateway beside the test site, with callers that scrape and map it. */
import { afterAll, beforeAll } from "bun:test";
import { type Caller, post, type Rig, startRig } from "../kit/index.ts";
import { startWebSite, type WebSite } from "./site/index.ts";

/** The answer of a scrape, as far as tests read it. */
interface ScrapeAnswer {
  readonly status: number;
  readonly success: boolean;
  readonly error: string | undefined;
  readonly code: string | undefined;
  readonly data: Readonly<Record<string, unknown>> & {
    readonly markdown?: string;
    readonly metadata: Readonly<Record<string, unknown>>;
  };
}

export interface WebScene {
  readonly site: WebSite;
  readonly rig: Rig;
  readonly caller: Caller;
  /** POST /v2/scrape of a path of the site, or of a whole address. */
  readonly scrape: (target: string, options?: object) => Promise<ScrapeAnswer>;
}

/** One for the tests of a file; the gateway may read exactly this site. */
export function webScene(config: (site: WebSite) => object = () => ({})): () => WebScene {
  let scene: WebScene | undefined;
  beforeAll(async () => {
    const site = await startWebSite();
    const { web, ...rest } = { web: {}, ...config(site) };
    const rig = await startRig({ config: { web: { allow_private_hosts: [hostOf(site)], ...web }, ...rest } });
    const caller = await rig.caller();
    scene = { site, rig, caller, scrape: (target, options) => scrape({ site, rig, caller }, target, options) };
  });
  afterAll(async () => {
    await scene?.rig.stop();
    await scene?.site.stop();
  });
  return () => {
    if (scene === undefined) throw new Error("the scene has not started");
    return scene;
  };
}

/** `host:port`, as in `web.allow_private_hosts`. */
function hostOf({ url }: { url: string }): string {
  return new URL(url).host;
}

async function scrape(
  { site, rig, caller }: Pick<WebScene, "site" | "rig" | "caller">,
  target: string,
  options: object = {},
): Promise<ScrapeAnswer> {
  const url = target.startsWith("/") ? site.url + target : target;
  const answer = await post(rig, "/v2/scrape", caller.token, { url, maxAge: 0, ...options });
  const body = (await answer.json()) as Omit<ScrapeAnswer, "status">;
  return { ...body, status: answer.status };
}

/** Does something with each, a few at a time. */
export async function eachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const workers = Array.from({ length: 6 }, async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  });
  await Promise.all(workers);
}
