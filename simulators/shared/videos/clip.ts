import { readFileSync } from "node:fs";
import type { Answer, Call } from "../types.ts";

/** Two seconds of H.264; simulators/README.md has the command that made it. */
const clip: Uint8Array = readFileSync(new URL("./clip.mp4", import.meta.url));

/** The video, or the one range of it that was asked for. */
export function clipAnswer({ headers }: Call): Answer {
  const whole = { kind: "bytes" as const, contentType: "video/mp4", headers: { "accept-ranges": "bytes" } };
  const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(headers["range"] ?? "") ?? [];
  if (first === "" && last === "") return { ...whole, bytes: clip };
  const start = first === "" ? Math.max(clip.length - Number(last), 0) : Number(first);
  const end = first === "" || last === "" ? clip.length : Math.min(Number(last) + 1, clip.length);
  if (start >= end) {
    const refused = { ...whole.headers, "content-range": `bytes */${clip.length}` };
    return { ...whole, status: 416, headers: refused, bytes: new Uint8Array() };
  }
  const part = { ...whole.headers, "content-range": `bytes ${start}-${end - 1}/${clip.length}` };
  return { ...whole, status: 206, headers: part, bytes: clip.subarray(start, end) };
}
