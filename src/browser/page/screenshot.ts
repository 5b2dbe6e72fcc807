import type { Page } from "playwright-core";
import { z } from "zod";
import { BrowserError } from "../browser-error.ts";
import type { Screenshot, ScreenshotSettings, Viewport } from "../render-request.ts";
import type { Deadline } from "./deadline.ts";
import type { IsolatedWorld } from "./isolated-world.ts";

/** Pixels of a picture, and of its height: beyond it, Chromium repeats parts of the page. */
const HEIGHT_PIXELS_MAX = 16_384;
const PICTURE_PIXELS_MAX = 64 * 1024 * 1024;

/** Bytes of a picture. A screen full of noise has four a pixel. */
const PICTURE_BYTES_MAX = 32 * 1024 * 1024;

interface ScreenshotOptions {
  page: Page;
  world: IsolatedWorld;
  deadline: Deadline;
  settings: ScreenshotSettings;
}

/** The picture of a page. A page that is higher than a picture may be is cut off at the bottom. */
export async function takeScreenshot({ page, world, deadline, settings }: ScreenshotOptions): Promise<Screenshot> {
  const before = page.viewportSize();
  const { fullPage = false, quality, viewport } = settings;
  if (viewport !== undefined) await deadline.bound(page.setViewportSize(viewport));
  const clip = fullPage ? await deadline.bound(wholePage(world)) : undefined;
  const bytes = await deadline.bound(
    page.screenshot({
      ...(quality === undefined ? { type: "png" } : { type: "jpeg", quality }),
      ...(clip && { fullPage, clip: { x: 0, y: 0, ...clip } }),
      // A picture has the size of the viewport, also that of a phone with several pixels a point.
      scale: "css",
      timeout: deadline.leftMs,
    }),
  );
  if (viewport !== undefined && before !== null) await deadline.bound(page.setViewportSize(before));
  if (bytes.length > PICTURE_BYTES_MAX) {
    throw new BrowserError("too_large", `its picture is larger than ${PICTURE_BYTES_MAX} bytes`);
  }
  return { type: quality === undefined ? "image/png" : "image/jpeg", bytes };
}

const size = z.object({ width: z.number().positive(), height: z.number().positive() });

async function wholePage(world: IsolatedWorld): Promise<Viewport> {
  const found = await world.evaluate(`(() => {
    const { documentElement: root, body } = document;
    return {
      width: Math.max(root.clientWidth, innerWidth),
      height: Math.max(root.scrollHeight, body?.scrollHeight ?? 0, innerHeight),
    };
  })()`);
  const { width, height } = size.parse(found);
  return { width, height: Math.floor(Math.min(height, HEIGHT_PIXELS_MAX, PICTURE_PIXELS_MAX / width)) };
}
