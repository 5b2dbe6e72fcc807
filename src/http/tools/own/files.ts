/** Files among a tool's arguments: base64, a data URL, or an address that the gateway reads behind its guard. */
import { setImmediate } from "node:timers/promises";
import { GatewayError } from "../../../core/index.ts";
import { OutboundError } from "../../../outbound/index.ts";
import type { MemoryShare } from "../../../streaming/index.ts";
import { collectBody } from "../../../upstream/index.ts";
import type { OwnCall } from "./own-tool.ts";

const TIMEOUT_MS = 60_000;
const REDIRECTS_MAX = 5;

export interface ToolFile {
  bytes: Uint8Array<ArrayBuffer>;
  /** Undefined if it is not given. */
  mediaType: string | undefined;
}

const DATA_URL = /^data:([^;,]*)(?:;[^,]*)?;base64,/i;

type Memory = Pick<MemoryShare, "add">;

/** How files are read: `param` is the name of their argument, `memory` counts their bytes. */
interface FileReading {
  param: string;
  memory: Memory;
}

/**
 * Runs work with files, of which the memory is counted until it has ended. Files given as texts are decoded one after the other, with
 * a turn for others between them.
 */
export async function withFiles<Result>(
  call: OwnCall,
  work: (read: (given: unknown, param: string) => Promise<ToolFile>) => Promise<Result>,
): Promise<Result> {
  const memory = call.services.memory.share();
  let decoded: Promise<unknown> = Promise.resolve();
  try {
    return await work((given, param) => {
      if (isAddress(given)) return fetchFile(call, given, { param, memory });
      const file = decoded.then(() => decode(given, { param, memory }));
      decoded = file.then(() => setImmediate());
      // A failure is that of `file`; the files after it are not decoded.
      decoded.catch(() => undefined);
      return file;
    });
  } finally {
    memory.free();
  }
}

function isAddress(given: unknown): given is string {
  return typeof given === "string" && /^https?:\/\//i.test(given);
}

/** Throws 422 for a value that is no file. */
function decode(given: unknown, { param, memory }: FileReading): ToolFile {
  if (typeof given !== "string" || given === "") throw invalid(param, "must be base64, a data URL or an address");
  memory.add(Math.ceil((given.length * 3) / 4));
  const [prefix = "", mediaType] = DATA_URL.exec(given) ?? [];
  const data = given.slice(prefix.length).replace(/\s+/g, "");
  if (data === "" || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(data)) throw invalid(param, "is not base64");
  return { bytes: new Uint8Array(Buffer.from(data, "base64")), mediaType: mediaType === "" ? undefined : mediaType };
}

/** An image at an address, in base64. Throws 422 for an address that the guard refuses, and for what is no image. */
export async function readImage(url: string, call: Pick<OwnCall, "services" | "signal">): Promise<string> {
  const memory = call.services.memory.share();
  try {
    const { bytes, mediaType } = await fetchFile(call, url, { param: "image", memory });
    if (typeIn(imageTypes, bytes) === undefined && mediaType?.startsWith("image/") !== true)
      throw invalid("image", "its address has none");
    memory.add(Math.ceil((bytes.length * 4) / 3));
    return Buffer.from(bytes).toString("base64");
  } finally {
    memory.free();
  }
}

/** Throws 422 for an address that the guard refuses, or that has no file. */
async function fetchFile(
  { services, signal }: Pick<OwnCall, "services" | "signal">,
  url: string,
  { param, memory }: FileReading,
): Promise<ToolFile> {
  const bytesMax = services.body.bytesMax;
  try {
    const reply = await services.outbound.fetch({
      url,
      bytesMax,
      timeoutMs: TIMEOUT_MS,
      redirectsMax: REDIRECTS_MAX,
      signal,
    });
    const collected = await collectBody(reply.body, bytesMax, (bytes) => memory.add(bytes));
    if ("exceeded" in collected) throw invalid(param, "is too large");
    if (reply.status !== 200) throw invalid(param, `its address answered with ${reply.status}`);
    return { bytes: new Uint8Array(collected.bytes), mediaType: mediaTypeOf(reply.headers.get("content-type")) };
  } catch (reason) {
    if (!(reason instanceof OutboundError)) throw reason;
    throw invalid(param, reason.message);
  }
}

export function mediaTypeOf(contentType: string | null): string | undefined {
  const type = contentType?.split(";")[0]?.trim();
  return type === "" ? undefined : type;
}

function invalid(param: string, reason: string): GatewayError {
  return new GatewayError("validation_failed", `${param}: ${reason}.`, { param });
}

/** Media types by the first bytes of a file, in hexadecimal. */
const imageTypes: readonly [string, string][] = [
  ["89504e47", "image/png"],
  ["ffd8ff", "image/jpeg"],
  ["47494638", "image/gif"],
  ["52494646", "image/webp"],
];
const soundTypes: readonly [string, string][] = [
  ["52494646", "audio/wav"],
  ["664c6143", "audio/flac"],
  ["4f676753", "audio/ogg"],
  ["1a45dfa3", "audio/webm"],
];

/** The media type of an image; PNG if its bytes are unknown. */
export function imageTypeOf(bytes: Uint8Array): string {
  return typeIn(imageTypes, bytes) ?? "image/png";
}

/** The media type of a sound; MP3 if its bytes are unknown. */
export function soundTypeOf(bytes: Uint8Array): string {
  const isMp4 = Buffer.from(bytes.subarray(4, 8)).toString("latin1") === "ftyp";
  return typeIn(soundTypes, bytes) ?? (isMp4 ? "audio/mp4" : "audio/mp3");
}

function typeIn(types: readonly [string, string][], bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, 4)).toString("hex");
  return types.find(([first]) => start.startsWith(first))?.[1];
}
