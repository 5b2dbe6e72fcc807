import { expect, test } from "bun:test";
import { decode } from "fast-png";
import { failureOf } from "../../../../test/kit/failure-of.ts";
import { makePdf } from "../__fixtures__/pdf.ts";
import { drawPages } from "./draw-pages.ts";

/** Black above, white below. */
const scan = { width: 2, samples: Uint8Array.from([0, 0, 255, 255]) };

test("pages are pictures in shades of grey, and empty ones none", async () => {
  const [first, absent] = await drawPages(makePdf([[]], { scan }), [1, 2]);
  expect(absent?.length).toBe(0);
  const { width, height, channels, data } = decode(first ?? new Uint8Array());
  expect([width, height, channels]).toEqual([1_200, 1_600, 1]);
  const [above, below] = [data[100 * width + 100], data[(height - 100) * width + 100]];
  expect([above, below]).toEqual([0, 255]);
  expect((await drawPages(makePdf([[]]), [1]))[0]?.length).toBe(0);
  expect((await drawPages(makePdf([[[50, 700, 40, "Text"]]]), [1]))[0]?.length).toBeGreaterThan(100);
});

test("a file that is no PDF is malformed", async () => {
  for (const bytes of [new TextEncoder().encode("%PDF-1.4 nothing"), new Uint8Array(0)])
    expect(await failureOf(drawPages(bytes, [1]))).toMatchObject({ failure: "malformed" });
  expect(await drawPages(makePdf([[[50, 700, 40, "Text"]]]), [1])).toHaveLength(1);
});
