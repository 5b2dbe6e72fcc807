import type { BenchCase } from "../cases/index.ts";
import type { CallerGroup } from "../load/protocol.ts";
import type { Target } from "../proxies/index.ts";

/** The request of a case as the load generator sends it: head and body, in base64. */
export function encodeRequest(target: Target, benchCase: BenchCase): string {
  const body = Buffer.from(benchCase.body(target.model));
  const headers: Record<string, string> = {
    host: `127.0.0.1:${target.port}`,
    "user-agent": "tollgate-bench",
    accept: "application/json",
    authorization: "Bearer bench",
    "content-type": "application/json",
    ...target.headers,
    "content-length": String(body.length),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const head = Buffer.from(`POST /v1/chat/completions HTTP/1.1\r\n${lines.join("")}\r\n`);
  return Buffer.concat([head, body]).toString("base64");
}

/** Callers that send a case without a pause and read every answer to its end. */
export function callersOf(target: Target, benchCase: BenchCase, callers: number): CallerGroup {
  const request = encodeRequest(target, benchCase);
  return { callers, request, expectation: benchCase.expectation, pauseMs: 0, hangUpAfterEvents: null };
}
