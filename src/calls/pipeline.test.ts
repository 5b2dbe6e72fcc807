/** The pipeline alone: a call without an HTTP request. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { WorkScene } from "../charges/__fixtures__/work-scene.ts";
import type { AskUpstream } from "../core/index.ts";
import type { PaidAnswer, WorkShell } from "../charges/index.ts";
import { callOf, chatRoute as route, pipelineOn } from "./__fixtures__/pipeline.ts";
import type { CallPipeline } from "./pipeline.ts";

let scene: WorkScene;
beforeEach(async () => {
  scene = await WorkScene.start();
});
afterEach(() => scene.stop());

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const completion = { id: "chatcmpl-1", object: "chat.completion", choices: [], usage };
const chunks = [{ choices: [{ index: 0, delta: { content: "Hi" } }] }, { choices: [], usage }]
  .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
  .join("");

let shell: WorkShell;

function pipelineTo(script: () => Response, ask?: AskUpstream): CallPipeline {
  const made = pipelineOn(scene, { script, ask });
  shell = made.shell;
  return made.pipeline;
}

const textOf = ({ body }: PaidAnswer): Promise<string> => new Response(body).text();

describe("a call without an HTTP request", () => {
  test("is answered whole, charged and recorded", async () => {
    const answer = await pipelineTo(() => Response.json(completion)).run(route, callOf({ max_tokens: 10 }));
    expect(answer).toMatchObject({ status: 200, headers: { "x-tollgate-credits": "0.00002" } });
    expect(JSON.parse(await textOf(answer))).toEqual(completion);
    expect(await scene.balances()).toEqual({ charged: 20_000n, held: 0n });
    expect(scene.ended).toMatchObject([{ order: { id: "req_own_1", source: { provider: "openai", model: "m" } } }]);
  });

  test("is answered with a stream, which is charged when it has been read", async () => {
    const headers = { "content-type": "text/event-stream" };
    const pipeline = pipelineTo(() => new Response(`${chunks}data: [DONE]\n\n`, { headers }));
    const answer = await pipeline.run(route, callOf({ max_tokens: 10, stream: true }));
    expect(shell.active).toBe(1);
    expect(await textOf(answer)).toContain('"content":"Hi"');
    expect(shell.active).toBe(0);
    expect(await scene.balances()).toEqual({ charged: 20_000n, held: 0n });
  });

  test("is refused like any other, also while the gateway is stopping", async () => {
    const pipeline = pipelineTo(() => Response.json(completion));
    const refusal = pipeline.run(route, callOf({ messages: [{ role: "user", content: "x".repeat(1_000_000) }] }));
    expect(await refusal.catch((error: unknown) => error)).toMatchObject({ code: "insufficient_credits" });
    shell.close();
    const late = await pipeline.run(route, callOf({})).catch((error: unknown) => error);
    expect(late).toMatchObject({ code: "shutting_down" });
    expect(scene.refused).toEqual(["insufficient_credits"]);
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });

  test("may have a retry key: its answer is replayed, and charged once", async () => {
    const pipeline = pipelineTo(() => Response.json(completion));
    const headers = new Headers({ "idempotency-key": "k" });
    const first = await pipeline.run(route, callOf({ max_tokens: 10 }, { headers }));
    const again = await pipeline.run(route, callOf({ max_tokens: 10 }, { headers, requestId: "req_own_2" }));
    expect(await textOf(again)).toBe(await textOf(first));
    expect(again.headers).toMatchObject({ "idempotent-replayed": "true", "x-tollgate-first-request-id": "req_own_1" });
    expect(await scene.balances()).toEqual({ charged: 20_000n, held: 0n });
  });

  test("whose client leaves before its second target is asked pays nothing for the first one, which has failed", async () => {
    const asked = Promise.withResolvers<void>();
    const pipeline = pipelineTo(
      () => Response.json(completion),
      ({ url, signal, onSent }) => {
        if (url.startsWith("https://openai.test")) {
          onSent?.(true);
          return Promise.reject(new Error("the connection was cut"));
        }
        asked.resolve();
        return new Promise((_, reject) => {
          signal.addEventListener("abort", { handleEvent: () => reject(signal.reason) });
        });
      },
    );
    const client = new AbortController();
    const headers = new Headers({ "x-tollgate-fallback": "azure/m" });
    const failing = pipeline.run(route, callOf({}, { headers, client })).catch((error: unknown) => error);
    await asked.promise;
    client.abort();
    await scene.tick(5_000);
    await failing;
    expect(scene.ended).toMatchObject([{ record: { provider: "azure", outcome: "abandoned" } }]);
    expect(await scene.balances()).toEqual({ charged: 0n, held: 0n });
  });
});
