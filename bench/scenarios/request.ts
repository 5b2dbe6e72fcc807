import type { BenchCall } from "../cases/index.ts";
import type { CallerGroup } from "../load/protocol.ts";
import type { Target } from "../proxies/index.ts";

/** The request of a case as the load generator sends it: head and body, in base64. */
export function encodeRequest(target: Target, call: BenchCall): string {
  const body = Buffer.from(call.body(target.models[call.upstream]));
  return requestOf(target, { path: call.path, contentType: "application/json", body }).toString("base64");
}

export interface RequestContent {
  path: string;
  contentType: string;
  body: Buffer;
}

/** A request, head and body. */
export function requestOf(target: Target, { path, contentType, body }: RequestContent): Buffer {
  const headers: Record<string, string> = {
    host: `127.0.0.1:${target.port}`,
    "user-agent": "tollgate-bench",
    accept: "application/json",
    authorization: "Bearer bench",
    "content-type": contentType,
    ...target.headers,
    "content-length": String(body.length),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`POST ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  return Buffer.concat([head, body]);
}

/** Callers that send a request without a pause and read every answer to its end. */
export function callersOf(target: Target, call: BenchCall, callers: number): CallerGroup {
  const request = encodeRequest(target, call);
  return { callers, request, expectation: call.expectation, pauseMs: 0, hangUpAfterEvents: null };
}
