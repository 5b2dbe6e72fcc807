/** The body of an extraction, in the terms of Firecrawl's v2 API. */
import { z } from "zod";
import { PROMPT_CHARACTERS_MAX } from "../../scrape/formats.ts";
import { ignoredMembers, scrapeOptions, unsupported } from "../../scrape/scrape-request.ts";
import { webhook } from "../crawl-request.ts";

/** Addresses of one extraction, those of sites included. */
const URLS_MAX = 50;

export const extractRequest = z
  .strictObject({
    urls: z
      .array(z.string().max(10_000))
      .min(1)
      .max(URLS_MAX)
      .describe("Pages. One that ends with /* stands for the pages below it, those that fit the prompt best first."),
    prompt: z.string().min(1).max(PROMPT_CHARACTERS_MAX).nullish(),
    systemPrompt: z.string().min(1).max(PROMPT_CHARACTERS_MAX).nullish(),
    schema: z.looseObject({}).nullish().describe("A JSON Schema that the data follows."),
    showSources: z.boolean().nullish().describe("Whether the answer names the addresses of each member."),
    includeSubdomains: z.boolean().nullish().describe("Of sites; false by default."),
    ignoreInvalidURLs: z
      .boolean()
      .nullish()
      .describe("Whether addresses that are none are left out and listed in invalidURLs; true by default."),
    scrapeOptions: scrapeOptions.nullish().describe("How the pages are read; their formats change nothing."),
    webhook,
    allowExternalLinks: unsupported("allowExternalLinks"),
    enableWebSearch: unsupported("enableWebSearch"),
    agent: unsupported("agent"),
    urlTrace: unsupported("urlTrace"),
    zeroDataRetention: unsupported("zeroDataRetention"),
    ...ignoredMembers,
  })
  .refine(({ prompt, schema }) => prompt != null || schema != null, {
    error: "an extraction needs a prompt or a schema",
    path: ["prompt"],
  })
  .meta({ id: "ExtractRequest" });
