import { z } from "@hono/zod-openapi";
import { parseForm, type WebAccess } from "../../web/index.ts";
import { answerPaid } from "../answer-paid.ts";
import { file } from "../contract.ts";
import { platformRoute, proxiedRoute } from "../route.ts";
import { document } from "./document.ts";

const parseRoute = proxiedRoute({
  contract: {
    path: "/v2/parse",
    operationId: "parse",
    tag: "Search",
    summary: "Read a file, as a scrape reads a page.",
    form: parseForm.extend({ file }),
    streams: false,
    answer: z.looseObject({ success: z.literal(true), data: document }).meta({ id: "ParseAnswer" }),
  },
  surface: "firecrawl",
  handle: (call, { web }: { web: WebAccess }) => answerPaid(call, (request) => web.parse(request)),
});

/** Each with its extensions and media types. */
const formats = [
  ["html", ["html", "htm", "xhtml"], ["text/html", "application/xhtml+xml"]],
  ["pdf", ["pdf"], ["application/pdf"]],
  ["docx", ["docx"], ["application/vnd.openxmlformats-officedocument.wordprocessingml.document"]],
  ["xlsx", ["xlsx"], ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"]],
  ["pptx", ["pptx"], ["application/vnd.openxmlformats-officedocument.presentationml.presentation"]],
  ["odt", ["odt"], ["application/vnd.oasis.opendocument.text"]],
  ["ods", ["ods"], ["application/vnd.oasis.opendocument.spreadsheet"]],
  ["odp", ["odp"], ["application/vnd.oasis.opendocument.presentation"]],
  ["rtf", ["rtf"], ["application/rtf", "text/rtf"]],
  ["epub", ["epub"], ["application/epub+zip"]],
  ["markdown", ["md", "markdown"], ["text/markdown"]],
  ["csv", ["csv", "tsv"], ["text/csv", "text/tab-separated-values"]],
  ["json", ["json"], ["application/json"]],
  ["xml", ["xml", "rss", "atom"], ["application/xml", "text/xml", "application/rss+xml", "application/atom+xml"]],
  ["text", ["txt"], ["text/plain"]],
] as const;

const formatsRoute = platformRoute({
  contract: {
    path: "/v2/parse/formats",
    operationId: "listParseFormats",
    tag: "Search",
    summary: "The formats of files that can be read.",
    answer: z
      .looseObject({
        success: z.literal(true),
        data: z.looseObject({
          formats: z.array(
            z.looseObject({
              format: z.string(),
              kind: z.literal("document"),
              extensions: z.array(z.string()),
              mimeTypes: z.array(z.string()),
              available: z.boolean(),
            }),
          ),
        }),
      })
      .meta({ id: "ParseFormats" }),
  },
  surface: "firecrawl",
  access: "token",
  handle: () => {
    const all = formats.map(([format, extensions, mimeTypes]) => ({
      format,
      kind: "document",
      extensions,
      mimeTypes,
      available: true,
    }));
    return Response.json({ success: true, data: { formats: all } });
  },
});

export const parseRoutes = [parseRoute, formatsRoute];
