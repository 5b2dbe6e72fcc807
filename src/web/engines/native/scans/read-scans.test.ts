import { describe, expect, test } from "bun:test";
import { failureOf } from "../../../../../test/kit/failure-of.ts";
import { CallAborter, GatewayError } from "../../../../core/index.ts";
import type { Page } from "../../../../pages/index.ts";
import type { WorkContext } from "../../../engine.ts";
import type { WebModel } from "../../../model.ts";
import type { NativeDependencies } from "../native-dependencies.ts";
import { readScans } from "./read-scans.ts";
import { planOf, type ScrapePlan } from "../scrape-plan.ts";

const url = "https://example.com/a.pdf";
const page: Page = { kind: "pdf", markdown: "", metadata: {}, needsBrowser: false, scannedPages: [1, 2, 3, 4, 5, 6] };
const scan = { bytes: new Uint8Array(1), url, contentType: "application/pdf", status: 200 };
const reading = { page, url, status: 200, contentType: "application/pdf", isRendered: false, scan };

/** A model that answers with the picture's first byte, or fails. */
const modelOf = (failing: ReadonlyMap<number, GatewayError> = new Map()): WebModel & { asked: number[] } => {
  const asked: number[] = [];
  return {
    asked,
    ask: ({ pictures: [picture] = [] }) => {
      const number = picture?.[0] ?? 0;
      asked.push(number);
      const failure = failing.get(number);
      return failure === undefined ? Promise.resolve({ text: ` page ${number} `, spent: 1n }) : Promise.reject(failure);
    },
  };
};

interface ReadOptions {
  mode?: string;
  left?: () => number;
  markdown?: string;
  /** The text of every page, once another node has read it. */
  stored?: string;
  keeps?: boolean;
}

function read(
  visionModel: WebModel | undefined,
  { mode = "auto", left = (): number => 60_000, markdown = "", stored, keeps = true }: ReadOptions = {},
) {
  let recognized: ScrapePlan["pdf"]["recognized"];
  const pages = {
    // The third page is empty.
    drawPdf: (_bytes: Uint8Array, numbers: readonly number[]) =>
      Promise.resolve(numbers.map((number) => (number === 3 ? new Uint8Array() : Uint8Array.of(number)))),
    takeApart: (_bytes: Uint8Array, { pdf }: { pdf: ScrapePlan["pdf"] }) => {
      ({ recognized } = pdf);
      return Promise.resolve({ ...page, markdown: Object.values(recognized ?? {}).join("|") });
    },
  };
  const parsers = [{ type: "pdf" as const, mode: mode as "auto" }];
  const plan = planOf({ url, parsers, storeInCache: keeps }, { cacheMsMax: 0 });
  const signal = new CallAborter();
  const scanTexts: NativeDependencies["scanTexts"] = {
    documentOf: () => Promise.resolve("document"),
    read: async (numbers, _, readPages) => new Map(await readPages(numbers)),
    stored: () => Promise.resolve(stored),
  };
  // Only these parts are used.
  const deps = { pages, visionModel, scanTexts } as unknown as NativeDependencies;
  const context = { workId: "w", names: {}, signal, principal: { user: "alice" } } as unknown as WorkContext;
  const asked = { ...reading, page: { ...page, markdown } };
  return readScans(deps, plan, asked, { context, time: { left, signal, owner: "alice" } });
}

test("pages are read in their order, and an empty one costs no call", async () => {
  const model = modelOf();
  const found = await read(model);
  expect(found.reading.page).toMatchObject({ markdown: "page 1|page 2||page 4|page 5|page 6" });
  expect([found.spent, found.reading.page.warning, model.asked]).toEqual([5n, undefined, [1, 2, 4, 5, 6]]);
});

test("pages for which the model fails are named, the others stay", async () => {
  const upstream = new GatewayError("upstream_timeout", "late");
  const { spent, reading: found } = await read(modelOf(new Map([[2, upstream]])));
  expect(found.page.markdown).toBe("page 1||page 4|page 5|page 6");
  expect([spent, found.page.warning]).toEqual([4n, "Pages that are pictures and could not be read: 1. late"]);
});

test("a part of a page's text does not stand for the page, but is paid", async () => {
  const model = modelOf();
  const ask = model.ask.bind(model);
  model.ask = async (question, context) => ({
    ...(await ask(question, context)),
    isCut: question.pictures?.[0]?.[0] === 2,
  });
  const { spent, reading: found } = await read(model);
  expect(found.page.markdown).toBe("page 1||page 4|page 5|page 6");
  expect([spent, found.page.warning]).toEqual([
    5n,
    "Pages that are pictures and could not be read: 1. The model did not write down the whole page.",
  ]);
});

test("nor does it for a later request, which asks again without the key of that answer", async () => {
  const model = modelOf();
  const ask = model.ask.bind(model);
  model.ask = async (question, context) => {
    const isRepeated = context.retryKey !== undefined;
    return { ...(await ask(question, context)), isRepeated, isCut: isRepeated };
  };
  const { spent, reading: found } = await read(model);
  expect([spent, found.page.markdown]).toEqual([5n, "page 1|page 2||page 4|page 5|page 6"]);
});

test("a caller's own refusal ends the scrape", async () => {
  const refusal = new GatewayError("insufficient_credits", "no");
  expect(await failureOf(read(modelOf(new Map([[4, refusal]]))))).toBe(refusal);
});

test("pages that are too many at a time are read one after the other, and a token without the model gets a warning", async () => {
  const busy = new GatewayError("rate_limit_exceeded", "busy");
  const failing = new Map([
    [1, busy],
    [4, busy],
  ]);
  const model = modelOf(failing);
  const ask = model.ask.bind(model);
  model.ask = async (question, context) => {
    const answer = ask(question, context);
    failing.delete(question.pictures?.[0]?.[0] ?? 0);
    return answer;
  };
  expect((await read(model)).reading.page.warning).toBeUndefined();
  expect(model.asked).toEqual([1, 2, 4, 1, 4, 5, 6]);

  const refusal = new GatewayError("model_not_routed", "The token may not use it.");
  const refused = await read(modelOf(new Map([1, 2, 4, 5, 6].map((number) => [number, refusal]))));
  expect(refused.reading.page.warning).toBe(
    "Pages that are pictures and could not be read: 5. The token may not use it.",
  );
});

test("no page is begun when the time is over", async () => {
  let looks = 0;
  const model = modelOf();
  const { reading: found } = await read(model, { left: () => ((looks += 1) > 2 ? 1 : 60_000) });
  expect(model.asked).toEqual([1, 2, 4]);
  expect(found.page.warning).toContain("could not be read: 2. The time was over.");
});

test("without a model a document without text, and one that shall be read so, get a warning", async () => {
  expect((await read(undefined)).reading.page.warning).toContain("web.vision_model");
  expect((await read(undefined, { markdown: "text" })).reading.page.warning).toBeUndefined();
  expect((await read(undefined, { mode: "ocr", markdown: "text" })).reading.page.warning).toContain("web.vision_model");
  const fast = await read(modelOf(), { mode: "fast" });
  expect([fast.spent, fast.reading.page.warning]).toEqual([0n, undefined]);
});

describe("a page that another node is having read", () => {
  const inUse = new GatewayError("idempotency_key_in_use", "The first call has not ended.");
  const elsewhere = () => modelOf(new Map([1, 2, 4, 5, 6].map((number) => [number, inUse])));

  test("has its text, without a call", async () => {
    const { spent, reading: found } = await read(elsewhere(), { stored: "from there" });
    expect([spent, found.page.warning]).toEqual([0n, undefined]);
    expect(found.page.markdown).toBe("from there|from there||from there|from there|from there");
  });

  test("or its answer, which the other one has paid", async () => {
    const model = modelOf();
    const ask = model.ask.bind(model);
    model.ask = async (question, context) => ({ ...(await ask(question, context)), isRepeated: true });
    const { spent, reading: found } = await read(model);
    expect([spent, found.page.markdown]).toEqual([0n, "page 1|page 2||page 4|page 5|page 6"]);
  });
});

test("questions have a retry key, unless the request keeps nothing, whose answers would be stored with it", async () => {
  const keys: (string | undefined)[] = [];
  const model = modelOf();
  const ask = model.ask.bind(model);
  model.ask = (question, context) => {
    keys.push(context.retryKey);
    return ask(question, context);
  };
  await read(model);
  expect([new Set(keys).size, keys.every((key) => /^scan-[0-9a-f]{64}$/.test(key ?? ""))]).toEqual([5, true]);
  keys.length = 0;
  await read(model, { keeps: false });
  expect(keys).toEqual(Array.from({ length: 5 }, () => undefined));
});

test("a page that another version has drawn differently is asked without the key", async () => {
  const model = modelOf();
  const ask = model.ask.bind(model);
  model.ask = (question, context) =>
    context.retryKey === undefined
      ? ask(question, context)
      : Promise.reject(new GatewayError("idempotency_key_reused", "another body"));
  expect((await read(model)).reading.page.warning).toBeUndefined();
  expect(model.asked).toEqual([1, 2, 4, 5, 6]);
});
