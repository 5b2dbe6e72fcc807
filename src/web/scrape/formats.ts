import { z } from "zod";
import { type PageAttribute, selectorCharactersMax, selectorCostMax, selectorCostOf } from "../../pages/index.ts";

/** Pixels of a screenshot's viewport. */
const viewport = z.strictObject({
  width: z.number().int().min(1).max(7_680),
  height: z.number().int().min(1).max(4_320),
});

const screenshot = z.strictObject({
  type: z.literal("screenshot"),
  fullPage: z.boolean().nullish(),
  quality: z.number().int().min(1).max(100).nullish().describe("Of a JPEG; without it a PNG is taken."),
  viewport: viewport.nullish(),
});

/** Characters of a prompt for the model. */
export const PROMPT_CHARACTERS_MAX = 10_000;

const json = z
  .strictObject({
    type: z.literal("json"),
    schema: z.looseObject({}).nullish().describe("A JSON Schema that the result follows."),
    prompt: z.string().min(1).max(PROMPT_CHARACTERS_MAX).nullish(),
  })
  .refine(({ schema, prompt }) => schema != null || prompt != null, "json needs a schema or a prompt");

const TAG_CHARACTERS_MAX = 100;

const changeTracking = z.strictObject({
  type: z.literal("changeTracking"),
  modes: z
    .array(z.enum(["git-diff", "json"]))
    .max(2)
    .nullish()
    .describe("git-diff lists the changed lines; json has a model compare the data that schema and prompt describe."),
  schema: z.looseObject({}).nullish().describe("A JSON Schema of the compared data."),
  prompt: z.string().min(1).max(PROMPT_CHARACTERS_MAX).nullish(),
  tag: z.string().max(TAG_CHARACTERS_MAX).nullish().describe("Pages with different tags are not compared."),
});

/** Pairs of a selector and an attribute in one request. */
const ATTRIBUTES_MAX = 100;

const attribute = z.strictObject({
  selector: z.string().min(1).max(selectorCharactersMax),
  attribute: z.string().min(1).max(100),
});

const attributes = z
  .strictObject({ type: z.literal("attributes"), selectors: z.array(attribute).min(1).max(ATTRIBUTES_MAX) })
  .refine(
    ({ selectors }) => selectorCostOf(selectors.map(({ selector }) => selector)) <= selectorCostMax,
    "too complex: use fewer or simpler selectors",
  )
  .describe("The values of an attribute, of all elements that match a CSS selector.");

const plainNames = ["markdown", "html", "rawHtml", "links", "images", "summary"] as const;

const plain = z.enum(plainNames);

/** Formats of Firecrawl's API that this gateway does not offer, so that the refusal can name them. */
const unsupported = ["branding", "product", "menu", "audio", "video", "question", "highlights", "extract"] as const;

const refused = z
  .union([z.enum(unsupported), z.looseObject({ type: z.enum(unsupported) })])
  .refine(
    () => false,
    "this format is not supported; supported are markdown, html, rawHtml, links, images, summary, json, changeTracking, attributes and screenshot",
  )
  .describe("Not supported.");

const format = z.union([
  plain,
  z.literal("screenshot"),
  z.literal("screenshot@fullPage"),
  z.literal("json").refine(() => false, 'json needs a schema or a prompt: {"type": "json", "schema": …}'),
  z.strictObject({ type: plain }),
  z.literal("changeTracking"),
  changeTracking,
  screenshot,
  json,
  attributes,
  refused,
]);

const FORMATS_MAX = 20;

export const formats = z.array(format).max(FORMATS_MAX).describe("The wanted forms of the page; markdown by default.");

/** A screenshot as requested, in pixels. */
interface ScreenshotFormat {
  fullPage: boolean;
  quality: number | undefined;
  viewport: { width: number; height: number } | undefined;
}

/** JSON as requested. */
interface JsonFormat {
  schema: Readonly<Record<string, unknown>> | undefined;
  prompt: string | undefined;
}

/** Change tracking as requested. */
export interface ChangesFormat {
  /** Whether the changed lines are wanted. */
  diff: boolean;
  /** The data that a model compares. */
  json: JsonFormat | undefined;
  tag: string | undefined;
}

/** The requested formats, each once. */
export interface Formats {
  names: ReadonlySet<(typeof plainNames)[number]>;
  screenshot: ScreenshotFormat | undefined;
  json: JsonFormat | undefined;
  changes: ChangesFormat | undefined;
  attributes: readonly PageAttribute[];
}

type Requested = z.output<typeof formats> | null | undefined;

/** Folds strings and objects of a request; without any, markdown. */
export function readFormats(requested: Requested): Formats {
  const names = new Set<(typeof plainNames)[number]>();
  let shot: ScreenshotFormat | undefined;
  let data: JsonFormat | undefined;
  let changes: ChangesFormat | undefined;
  for (const each of requested == null || requested.length === 0 ? (["markdown"] as const) : requested) {
    const one = typeof each === "string" ? ({ type: each } as const) : each;
    if (one.type === "screenshot" || one.type === "screenshot@fullPage") {
      shot ??= { fullPage: one.type === "screenshot@fullPage", quality: undefined, viewport: undefined };
      if ("viewport" in one || "fullPage" in one || "quality" in one) {
        shot = {
          fullPage: one.fullPage ?? false,
          quality: one.quality ?? undefined,
          viewport: one.viewport ?? undefined,
        };
      }
    } else if (one.type === "json") {
      if ("schema" in one || "prompt" in one) data = jsonOf(one);
    } else if (one.type === "changeTracking") {
      changes = changesOf(typeof each === "object" && each.type === "changeTracking" ? each : {});
    } else if (isPlain(one.type)) names.add(one.type);
  }
  return { names, screenshot: shot, json: data, changes, attributes: attributesOf(requested) };
}

function attributesOf(requested: Requested): PageAttribute[] {
  return (requested ?? []).flatMap((each) =>
    typeof each === "object" && each.type === "attributes" && "selectors" in each ? each.selectors : [],
  );
}

function jsonOf({ schema, prompt }: Partial<Omit<z.output<typeof json>, "type">>): JsonFormat {
  return { schema: schema ?? undefined, prompt: prompt ?? undefined };
}

function changesOf(requested: Partial<Omit<z.output<typeof changeTracking>, "type">>): ChangesFormat {
  const modes = requested.modes ?? [];
  return {
    diff: modes.includes("git-diff"),
    json: modes.includes("json") ? jsonOf(requested) : undefined,
    tag: requested.tag ?? undefined,
  };
}

function isPlain(name: string): name is (typeof plainNames)[number] {
  return plainNames.some((each) => each === name);
}
