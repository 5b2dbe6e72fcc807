/** Files among a tool's arguments: base64, a data URL, or an address that the gateway reads behind its guard. */
import { GatewayError } from "../../../core/index.ts";
import { OutboundError } from "../../../outbound/index.ts";
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

/** `param` is the name of the argument. Throws 422 for another value, and for an address that the guard refuses. */
export async function readFile(call: OwnCall, given: unknown, param: string): Promise<ToolFile> {
  if (typeof given !== "string" || given === "") throw invalid(param, "must be base64, a data URL or an address");
  if (/^https?:\/\//i.test(given)) return fetchFile(call, given, param);
  const [prefix = "", mediaType] = DATA_URL.exec(given) ?? [];
  const data = given.slice(prefix.length).replace(/\s+/g, "");
  if (data === "" || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(data)) throw invalid(param, "is not base64");
  return { bytes: new Uint8Array(Buffer.from(data, "base64")), mediaType: mediaType === "" ? undefined : mediaType };
}

async function fetchFile({ services, signal }: OwnCall, url: string, param: string): Promise<ToolFile> {
  const bytesMax = services.body.bytesMax;
  try {
    const reply = await services.outbound.fetch({
      url,
      bytesMax,
      timeoutMs: TIMEOUT_MS,
      redirectsMax: REDIRECTS_MAX,
      signal,
    });
    const collected = await collectBody(reply.body, bytesMax);
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
