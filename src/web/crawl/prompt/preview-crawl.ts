import { refuseChargeMax } from "../../../charges/index.ts";
import type { JsonObject } from "../../../core/index.ts";
import type { Performed, WebPlan } from "../../engine.ts";
import type { WebModel } from "../../model.ts";
import { parseRequest } from "../../parse-request.ts";
import { crawlPreviewRequest } from "../crawl-request.ts";
import { planCrawl } from "../plan-crawl.ts";
import { modelOfPrompt, optionsFromPrompt } from "./options-from-prompt.ts";

export interface CrawlPreview extends Performed {
  url: string;
  options: JsonObject;
  warning: string | undefined;
}

/** Checks a body of `POST /v2/crawl/params-preview`. Only the model's call costs something. */
export function planPreview(body: JsonObject, configured: WebModel | undefined): WebPlan<CrawlPreview> {
  const { url, prompt } = parseRequest(crawlPreviewRequest, body);
  const model = modelOfPrompt(configured);
  return {
    bound: {},
    async run({ principal, workId: parent, names, signal, headers }) {
      if (headers !== undefined) refuseChargeMax(headers, "the call of the model that makes the options");
      const { plan } = await planCrawl({ url });
      const made = await optionsFromPrompt(model, { url: plan.url, prompt }, { principal, parent, names, signal });
      return { url, ...made, usage: {} };
    },
  };
}
