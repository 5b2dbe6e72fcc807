import { z } from "zod";

/** The actions of Firecrawl's v2 API, which are carried out in a browser one after the other. */

const selector = z.string().min(1).max(1_000);

const viewport = z.looseObject({
  width: z.number().int().min(1).max(7_680),
  height: z.number().int().min(1).max(4_320),
});

/** The longest single wait. The time of the whole scrape is bounded too. */
const WAIT_MS_MAX = 60_000;

const SCRIPT_CHARACTERS_MAX = 100_000;

const wait = z
  .strictObject({
    type: z.literal("wait"),
    milliseconds: z.number().int().min(1).max(WAIT_MS_MAX).optional(),
    selector: selector.optional(),
  })
  .refine(
    ({ milliseconds, selector: awaited }) => (milliseconds === undefined) !== (awaited === undefined),
    "wait needs milliseconds or a selector",
  );

const action = z.discriminatedUnion("type", [
  wait,
  z.strictObject({
    type: z.literal("screenshot"),
    fullPage: z.boolean().optional(),
    quality: z.number().int().min(1).max(100).optional(),
    viewport: viewport.optional(),
  }),
  z.strictObject({ type: z.literal("click"), selector, all: z.boolean().optional() }),
  z.strictObject({ type: z.literal("write"), text: z.string().max(10_000) }),
  z.strictObject({ type: z.literal("press"), key: z.string().min(1).max(100) }),
  z.strictObject({
    type: z.literal("scroll"),
    direction: z.enum(["up", "down"]).optional(),
    selector: selector.optional(),
  }),
  z.strictObject({ type: z.literal("scrape") }),
  z.strictObject({ type: z.literal("executeJavascript"), script: z.string().max(SCRIPT_CHARACTERS_MAX) }),
  z.strictObject({
    type: z.literal("pdf"),
    format: z.enum(["A0", "A1", "A2", "A3", "A4", "A5", "A6", "Letter", "Legal", "Tabloid", "Ledger"]).optional(),
    landscape: z.boolean().optional(),
    scale: z.number().min(0.1).max(2).optional(),
  }),
]);

const ACTIONS_MAX = 50;

export const actions = z.array(action).max(ACTIONS_MAX).describe("Carried out in a browser before the page is read.");
