/** The messages between the gateway and the browser's child process. Each is JSON, with the bytes that it refers to behind it. */
import { z } from "zod";
import { browserFailures } from "../browser-error.ts";
import type { ChildPageRequest } from "../render-request.ts";

/** An index in the parts of the message's frame. */
const part = z.number().int().nonnegative();

export interface StartMessage {
  type: "start";
  executable: string;
  sandbox: boolean;
  /** For the browser's own files. The child removes it at its end. */
  folder: string;
  /** The user to become: the id, which is the group's as well. Undefined: remain. */
  userId: number | undefined;
  /** The variable `PATH` of the browser. */
  path: string;
  allowPrivateHosts: readonly string[];
  allowPorts: readonly number[];
}

export type ToChild =
  | StartMessage
  | { type: "render"; id: number; request: ChildPageRequest }
  /** Nobody waits for it any longer. */
  | { type: "cancel"; id: number };

const failure = z.object({
  failure: z.enum(browserFailures),
  message: z.string(),
  action: z.number().int().nonnegative().optional(),
});

export type FailureRecord = z.infer<typeof failure>;

const screenshot = z.object({ type: z.enum(["image/png", "image/jpeg"]), bytes: part });

const page = z.object({
  url: z.string(),
  status: z.number().int(),
  headers: z.record(z.string(), z.string()),
  contentType: z.string().optional(),
  html: part,
  screenshot: screenshot.optional(),
  actions: z
    .object({
      screenshots: z.array(screenshot),
      scrapes: z.array(z.object({ url: z.string(), html: part })),
      javascriptReturns: z.array(z.object({ type: z.string(), value: z.unknown().optional() })),
      pdfs: z.array(part),
    })
    .optional(),
  warning: z.string().optional(),
});

export type PageRecord = z.infer<typeof page>;

export const fromChild = z.discriminatedUnion("type", [
  /** The browser runs. */
  z.object({ type: z.literal("ready") }),
  z.object({ type: z.literal("unavailable"), message: z.string() }),
  z.object({ type: z.literal("loaded"), id: z.number() }),
  z.object({ type: z.literal("rendered"), id: z.number(), page }),
  z.object({ type: z.literal("failed"), id: z.number(), failure }),
]);

export type FromChild = z.infer<typeof fromChild>;
