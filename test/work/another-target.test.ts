/** A way of work that plans the body it has received for another target, as long as nothing of it has been answered. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { z } from "zod";
import { type FormDeclaration, parseBody, type ParsedBody, type ReceivedBody } from "../../src/bodies/index.ts";
import { orderOf, WorkScene } from "../../src/charges/__fixtures__/work-scene.ts";
import {
  type PaidAnswer,
  type PaidRequest,
  type Planning,
  type RunningWork,
  type WayOfWork,
  type WorkPlan,
  WorkShell,
} from "../../src/charges/index.ts";
import { GatewayError } from "../../src/core/index.ts";
import { MemoryBudget } from "../../src/streaming/index.ts";

const fields = z.object({ prompt: z.string() });
type Fields = z.infer<typeof fields>;

interface RenderPlan extends WorkPlan {
  send: () => Promise<string>;
}

/** Renders at the first of two targets that answers. */
class RenderWay implements WayOfWork<Fields, RenderPlan, string> {
  readonly surface = "openai";
  readonly operation = "render";
  readonly form: FormDeclaration<Fields> | undefined;
  readonly planned: string[] = [];
  readonly #targets: Readonly<Record<string, (body: string) => string>>;

  constructor(targets: Readonly<Record<string, (body: string) => string>>, form = false) {
    this.#targets = targets;
    this.form = form ? { body: fields, sound: false } : undefined;
  }

  parse(bytes: Uint8Array): ParsedBody<Fields> {
    return parseBody(bytes, fields, []);
  }

  plan(received: ReceivedBody<Fields>, { retry, target = "first" }: Planning<string>): RenderPlan {
    this.planned.push(target);
    const render = this.#targets[target];
    return {
      order: orderOf({ retry, source: { provider: target, model: "m", modelId: `${target}/m` } }),
      clientGoneGraceMs: 0,
      send: async () => {
        const bytes =
          received.kind === "json"
            ? received.bytes
            : await new Response(
                received.form.composed([{ name: "prompt", text: "again" }, ...files(received)], random).open(),
              ).bytes();
        return render?.(Buffer.from(bytes).toString()) ?? "";
      },
    };
  }

  async run(running: RunningWork<RenderPlan, string>, plan: RenderPlan): Promise<PaidAnswer> {
    let body: string;
    try {
      body = await plan.send();
    } catch {
      const other = await running.plan("second");
      body = await other.send();
    }
    running.freeBody();
    const answer = { status: 200, headers: {}, body };
    await running.answer(answer, { usage: { input: 1 } });
    return answer;
  }
}

const random = (size: number): Uint8Array => crypto.getRandomValues(new Uint8Array(size));

function files(received: ReceivedBody<Fields>) {
  return received.kind === "form"
    ? received.files.map((file) => ({ name: file.field, file: received.partOf(file) }))
    : [];
}

let scene: WorkScene;
let shell: WorkShell;
beforeEach(async () => {
  scene = await WorkScene.start();
  const body = { bytesMax: 1e6, arrivalMsMax: 60_000, ticker: scene.ticker };
  shell = new WorkShell({ work: scene.deps, memory: new MemoryBudget(1e9), body });
});
afterEach(() => scene.stop());

const client = new AbortController();

function requestOf(source: Response): PaidRequest {
  return {
    requestId: "req_1",
    principal: {
      ...orderOf().principal,
      service: false,
      role: "member",
      models: undefined,
      rates: undefined,
      expiresAt: undefined,
    },
    headers: source.headers,
    body: source,
    client,
  };
}

function failing(seen: string[]): (body: string) => string {
  return (body) => {
    seen.push(body);
    throw new GatewayError("upstream_unreachable", "no connection");
  };
}

test("JSON is planned again, byte by byte, after a failed attempt", async () => {
  const seen: string[] = [];
  const way = new RenderWay({ first: failing(seen), second: (body) => `second: ${body}` });
  const text = `{"prompt": "a cat",  "n":1}`;
  const { body } = await shell.run(requestOf(new Response(text)), way);
  expect([seen, body, way.planned]).toEqual([[text], `second: ${text}`, ["first", "second"]]);
  expect(await scene.balances()).toEqual({ charged: 1_000n, held: 0n });
});

test("a form is read again, with its files", async () => {
  const seen: string[] = [];
  const way = new RenderWay({ first: failing(seen), second: (body) => body }, true);
  const form = new FormData();
  form.set("prompt", "a cat");
  form.set("image", new File(["the bytes of an image"], "a.png"));
  const { body } = await shell.run(requestOf(new Response(form)), way);
  expect(seen[0]).toContain("the bytes of an image");
  expect(await new Response(body).text()).toContain("the bytes of an image");
});

test("a body that is of no further use cannot be planned", async () => {
  const way = new RenderWay({ first: () => "" });
  way.run = async (running) => {
    running.freeBody();
    await running.plan("second");
    throw new Error("planned");
  };
  const failure = await shell.run(requestOf(new Response(`{"prompt":""}`)), way).catch((reason: unknown) => reason);
  expect(String(failure)).toBe("Error: the body of req_1 is gone");
  expect(scene.ended).toMatchObject([{ record: { outcome: "interrupted" } }]);
});
