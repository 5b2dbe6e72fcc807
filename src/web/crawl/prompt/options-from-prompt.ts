/** The options of a crawl that a model makes of its user's own words. */
import { GatewayError, type JsonObject, type Nano, objectOf } from "../../../core/index.ts";
import type { ModelContext, WebModel } from "../../model.ts";
import { readJson } from "../../scrape/ask-model.ts";
import { planCrawl } from "../plan-crawl.ts";

const patterns = { type: "array", items: { type: "string" } };
const flag = { type: "boolean" };

const schema: JsonObject = {
  type: "object",
  properties: {
    includePaths: patterns,
    excludePaths: patterns,
    regexOnFullURL: flag,
    maxDiscoveryDepth: { type: "integer", minimum: 0 },
    crawlEntireDomain: flag,
    allowSubdomains: flag,
    allowExternalLinks: flag,
    sitemap: { type: "string", enum: ["include", "skip", "only"] },
    ignoreQueryParameters: flag,
    limit: { type: "integer", minimum: 1 },
    delay: { type: "integer", minimum: 0 },
  },
  additionalProperties: false,
};
const members: ReadonlySet<string> = new Set(Object.keys(objectOf(schema["properties"]) ?? {}));

const INSTRUCTIONS = `The message is a JSON object with the start of a crawl of a web site, \`url\`, and the user's wish, \`prompt\`. Answer with the options of the crawl as JSON only. Leave out each option that the wish does not need.
- includePaths, excludePaths: regular expressions (RE2) that are searched for in the path of an address, such as "^/blog/.*"; with regexOnFullURL in the whole address.
- crawlEntireDomain: also read pages outside of the start's path. allowSubdomains, allowExternalLinks: also those of other hosts.
- sitemap: "include" reads sitemaps beside links, "skip" links alone, "only" sitemaps alone.
- maxDiscoveryDepth: links from the start. limit: pages. delay: seconds between two pages.`;

export interface OptionsFromPrompt {
  /** Valid for a crawl, each by itself and together. */
  options: JsonObject;
  /** Options of the model that were none. */
  warning: string | undefined;
  /** Of the model's call. */
  spent: Nano;
}

/** Rejects as the model does. */
export async function optionsFromPrompt(
  model: WebModel,
  { url, prompt }: { url: string; prompt: string },
  context: ModelContext,
): Promise<OptionsFromPrompt> {
  const question = { instructions: INSTRUCTIONS, text: JSON.stringify({ url, prompt }), schema };
  const { text, spent } = await model.ask(question, context);
  const options: JsonObject = {};
  const left: string[] = [];
  for (const [name, value] of Object.entries(objectOf(readJson(text)) ?? {})) {
    if (value == null) continue;
    const isValid = members.has(name) && (await isOption({ url, ...options, [name]: value }));
    if (isValid) Object.assign(options, { [name]: value });
    else left.push(name.slice(0, 100));
  }
  const warning = left.length === 0 ? undefined : `The model made options that are none: ${left.join(", ")}.`;
  return { options, warning: warning?.slice(0, 1_000), spent };
}

async function isOption(body: JsonObject): Promise<boolean> {
  try {
    await planCrawl(body);
    return true;
  } catch (thrown) {
    if (thrown instanceof GatewayError) return false;
    throw thrown;
  }
}

/** The model of a prompt. Throws 422 if the configuration names none. */
export function modelOfPrompt(model: WebModel | undefined): WebModel {
  if (model !== undefined) return model;
  const message = "prompt needs a model. The operator must set web.model in the configuration.";
  throw new GatewayError("web_model_unset", message, { param: "prompt" });
}
