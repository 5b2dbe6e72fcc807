import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { chatUpstream } from "../../../test/kit/dialects/contexts.ts";
import { type BodySink, limits } from "../../core/index.ts";
import { firstContentOf, translations } from "../../dialects/index.ts";
import { chunk, done, finish, ScriptedBody, turns, upstreamError } from "../__fixtures__/stream-scene.ts";
import { HeldBody, type HoldOptions } from "./held-body.ts";

const role = `data: {"id":"c","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n`;
const refusal = `data: {"id":"c","choices":[{"index":0,"delta":{"refusal":"I can't"}}]}\n\n`;
const comment = ": ping\n\n";

/** The reader of a body. */
class Got implements BodySink {
  readonly pieces: string[] = [];
  end: unknown;
  onPiece: (() => void) | undefined;

  onBytes(bytes: Buffer): void {
    this.pieces.push(bytes.toString("latin1"));
    this.onPiece?.();
  }

  onEnd(): void {
    this.end = "ended";
  }

  onFailure(cause: unknown): void {
    this.end = cause;
  }
}

function scene(options: Partial<HoldOptions> = {}) {
  const upstream = new ScriptedBody();
  const begun: number[] = [];
  const held = new HeldBody(upstream, {
    content: firstContentOf(translations.chat.streamReader(chatUpstream)),
    endsAtRefusal: false,
    commit: undefined,
    onBegun: (withinMs) => void begun.push(withinMs),
    ...options,
  });
  const ends: unknown[] = [];
  held.hold().then(
    (end) => ends.push(end),
    () => undefined,
  );
  const got = new Got();
  const send = (text: string): void => upstream.send(Buffer.from(text, "latin1"));
  return { upstream, held, ends, begun, got, send };
}

describe("a stream is held", () => {
  test("until its first content, and leaves in one piece", async () => {
    const { upstream, held, ends, got, send } = scene();
    for (const text of [comment, role, role]) send(text);
    await turns();
    expect(ends).toEqual([]);
    send(chunk("a"));
    await turns();
    expect(ends).toEqual([{ kind: "passing" }]);
    // Nothing more is read before it is passed on.
    expect(upstream.paused).toBe(true);
    held.flowTo(got);
    expect(got.pieces).toEqual([comment + role + role + chunk("a")]);
    send(chunk("b"));
    send(done);
    upstream.end();
    expect(got).toMatchObject({ pieces: [comment + role + role + chunk("a"), chunk("b"), done], end: "ended" });
  });

  test("no longer than its bytes may wait", async () => {
    const { ends, held, got, send } = scene();
    const large = `: ${"x".repeat(limits.heldStreamBytesMax / 2)}\n\n`;
    send(large);
    send(large);
    await turns();
    expect(ends).toEqual([{ kind: "passing" }]);
    held.flowTo(got);
    expect(got.pieces).toEqual([large + large]);
  });

  test("until an answer without content has ended", async () => {
    const { upstream, ends, held, got, send } = scene();
    send(role);
    send(done);
    upstream.end();
    await turns();
    expect(ends).toEqual([{ kind: "passing" }]);
    held.flowTo(got);
    expect(got).toMatchObject({ pieces: [role + done], end: "ended" });
  });
});

describe("a stream is lost", () => {
  test.each<[string, string[]]>([
    ["before anything has come", []],
    ["in the middle of an event", [role, "data: {"]],
    ["after its role", [role]],
  ])("that ends %s", async (_, texts) => {
    const { upstream, ends, send } = scene();
    for (const text of texts) send(text);
    upstream.end();
    await turns();
    expect(ends).toEqual([{ kind: "lost", cause: undefined }]);
  });

  test("that breaks off", async () => {
    const { upstream, ends, send } = scene();
    send(role);
    upstream.fail("gone");
    await turns();
    expect(ends).toEqual([{ kind: "lost", cause: "gone" }]);
  });
});

describe("an error before content", () => {
  test("is a failure, and can be passed on later: nothing follows it", async () => {
    const { upstream, ends, held, got, send } = scene();
    send(role + upstreamError("busy"));
    await turns();
    expect([ends, upstream.cancelled]).toEqual([[{ kind: "failed" }], true]);
    held.flowTo(got);
    expect(got).toMatchObject({ pieces: [role + upstreamError("busy")], end: "ended" });
  });

  test("after content it belongs to the answer", async () => {
    const { ends, send } = scene();
    send(role + chunk("a") + upstreamError("busy"));
    await turns();
    expect(ends).toEqual([{ kind: "passing" }]);
  });
});

describe("a refusal", () => {
  test("is content, unless a target is left for it", async () => {
    const { ends, send } = scene();
    send(refusal);
    await turns();
    expect(ends).toEqual([{ kind: "passing" }]);
  });

  test("is read to its end, so that it can be passed on later", async () => {
    const { ends, held, got, send } = scene({ endsAtRefusal: true });
    send(role + refusal);
    await turns();
    expect(ends).toEqual([]);
    send(finish + done);
    await turns();
    expect(ends).toEqual([{ kind: "failed" }]);
    held.flowTo(got);
    expect(got).toMatchObject({ pieces: [role + refusal + finish + done], end: "ended" });
  });
});

describe("with a rule for the commitment", () => {
  const commit = { chars: 4, withinMs: 2_000 };

  test("a stream must come so far, in the time that begins with its content", async () => {
    const { ends, begun, send } = scene({ commit });
    send(role);
    expect(begun).toEqual([]);
    send(chunk("abc"));
    await turns();
    expect([begun, ends]).toEqual([[2_000], []]);
    send(chunk("d"));
    await turns();
    expect([begun, ends]).toEqual([[2_000], [{ kind: "passing" }]]);
  });

  test("a short answer may end before", async () => {
    const { ends, send } = scene({ commit });
    send(chunk("a") + finish + done);
    await turns();
    expect(ends).toEqual([{ kind: "passing" }]);
  });

  test.each<[string, (upstream: ScriptedBody, send: (text: string) => void) => void, unknown]>([
    ["an error", (_, send) => send(upstreamError("busy")), { kind: "failed" }],
    ["a cut", (upstream) => upstream.fail("gone"), { kind: "lost", cause: "gone" }],
  ])("%s before that is a failure", async (_, fail, end) => {
    const { upstream, ends, send } = scene({ commit });
    send(chunk("a"));
    fail(upstream, send);
    await turns();
    expect(ends).toEqual([end]);
  });
});

describe("back-pressure", () => {
  test("of the reader, in the first piece and later, keeps order and end", async () => {
    const { upstream, held, got, send } = scene();
    send(role + chunk("a"));
    await turns();
    got.onPiece = () => held.pause();
    held.flowTo(got);
    upstream.paused = false;
    // Bytes that a connection had received already arrive all the same.
    send(chunk("b"));
    upstream.end();
    expect([got.pieces, got.end]).toEqual([[role + chunk("a")], undefined]);
    held.resume();
    expect([got.pieces, got.end]).toEqual([[role + chunk("a"), chunk("b")], undefined]);
    got.onPiece = undefined;
    held.resume();
    expect([got.pieces.length, got.end]).toEqual([2, "ended"]);
  });

  test("a cancelled stream passes nothing on", async () => {
    const { upstream, held, got, send } = scene();
    send(chunk("a"));
    await turns();
    held.cancel();
    held.flowTo(got);
    expect([upstream.cancelled, got.end]).toEqual([true, undefined]);
  });
});

test("whatever the pieces, every byte passes, in order, and the first content decides", async () => {
  const whole = comment + role + chunk("é") + chunk("b") + finish + done;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 8 }), async (cuts) => {
      const { upstream, held, ends, got, send } = scene();
      const places = [0, ...cuts.toSorted((a, b) => a - b), whole.length];
      for (const [index, place] of places.slice(1).entries()) send(whole.slice(places[index], place));
      upstream.end();
      await turns();
      expect(ends).toEqual([{ kind: "passing" }]);
      held.flowTo(got);
      expect(got.pieces.join("")).toBe(Buffer.from(whole, "latin1").toString("latin1"));
      expect(got.end).toBe("ended");
    }),
    { numRuns: 60 },
  );
});
