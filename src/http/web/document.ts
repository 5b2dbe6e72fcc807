import { z } from "@hono/zod-openapi";

/** One page in the form of Firecrawl's v2 API. */
export const document = z
  .looseObject({
    markdown: z.string().optional(),
    html: z.string().optional(),
    rawHtml: z.string().optional(),
    summary: z.string().optional(),
    json: z.unknown().optional(),
    links: z.array(z.string()).optional(),
    images: z.array(z.string()).optional(),
    attributes: z
      .array(z.object({ selector: z.string(), attribute: z.string(), values: z.array(z.string()) }))
      .optional(),
    screenshot: z.string().optional().describe("An address that is valid for a day, or a data: URL."),
    actions: z
      .looseObject({
        screenshots: z.array(z.string()),
        scrapes: z.array(z.object({ url: z.string(), html: z.string() })),
        javascriptReturns: z.array(z.object({ type: z.string(), value: z.unknown() })),
        pdfs: z.array(z.string()),
      })
      .optional(),
    changeTracking: z
      .looseObject({
        previousScrapeAt: z.string().nullable().describe("Null for a page that is new."),
        changeStatus: z.enum(["new", "same", "changed", "removed"]),
        visibility: z.enum(["visible", "hidden"]),
        diff: z
          .looseObject({
            text: z.string().describe("As git shows it."),
            json: z.looseObject({ files: z.array(z.unknown()) }),
          })
          .optional(),
        json: z.unknown().optional().describe("The values before and now."),
      })
      .optional(),
    warning: z.string().optional().describe("The missing or doubtful parts."),
    metadata: z
      .looseObject({
        title: z.string().optional(),
        description: z.string().optional(),
        language: z.string().optional(),
        sourceURL: z.string().describe("The requested address."),
        url: z.string().describe("The address after all redirects."),
        statusCode: z.number().int().describe("The status of the page itself."),
        contentType: z.string().optional(),
        error: z.string().optional().describe("The page's status as text, if it is an error."),
        numPages: z.number().int().optional().describe("Pages of a PDF that were read."),
        cacheState: z.enum(["hit", "miss"]).optional(),
        cachedAt: z.string().optional(),
        creditsUsed: z.number().optional().describe("Credits for the page and for a model's calls for it."),
      })
      .describe("Facts about the page; its meta tags are members too."),
  })
  .meta({ id: "WebDocument" });
