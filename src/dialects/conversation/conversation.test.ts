import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { GatewayError } from "../../core/index.ts";
import { plainCallId, shortCallId } from "./tools/call-ids.ts";
import { nearestEffort } from "../../core/index.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { type UnmodeledFields, fieldsFor } from "./fields.ts";
import { joinTurns } from "./join-turns.ts";
import type { Turn } from "./conversation.ts";
import { belongsTo, tagSignature, untagSignature } from "./signature.ts";
import { checkBase64, sourceOfUrl, urlOfSource } from "./sources.ts";

describe("a signature", () => {
  test("is returned as it was tagged, whatever its content", () => {
    const property = fc.property(fc.string(), fc.string(), (origin, value) => {
      const sealed = tagSignature({ origin, value }, "thought", "messages");
      expect(untagSignature(sealed, "messages")).toEqual({ signature: { origin, value }, use: "thought" });
    });
    fc.assert(property);
  });

  test("of the client's own dialect carries no mark", () => {
    const { signature, use } = untagSignature("EqQBCg==", "messages");
    expect(use).toBeUndefined();
    expect(tagSignature(signature, "thought", "messages")).toBe("EqQBCg==");
  });

  test("goes to its origin alone", () => {
    const target = { model: "m", origin: "anthropic" };
    expect(belongsTo({ origin: "anthropic", value: "x" }, target, "messages")).toBe(true);
    expect(belongsTo({ origin: "google", value: "x" }, target, "messages")).toBe(false);
    expect(belongsTo(untagSignature("raw", "messages").signature, target, "messages")).toBe(true);
    expect(belongsTo(untagSignature("raw", "chat").signature, target, "messages")).toBe(false);
    expect(belongsTo(undefined, target, "messages")).toBe(false);
  });

  test("invented by a client has an unknown origin", () => {
    expect(untagSignature("tollgate.%zz.thought.x", "chat").signature.origin).toBe("%zz");
    expect(untagSignature("tollgate.x.theft.y", "chat").signature.origin).toBe("native:chat");
  });
});

describe("the rest of a body", () => {
  const own = { chat: "carried", gemini: "dropped", responses: "dropped" } as const;
  const rest = (body: UnmodeledFields["body"]): UnmodeledFields => ({
    dialect: "chat",
    table: {
      carried: { support: { ...own, messages: "carried" } },
      dropped: { support: { ...own, messages: "dropped" } },
      refused: { support: { ...own, messages: "refused" }, noOpValues: [1, ["text"]] },
      read: { support: { ...own, messages: "translated" } },
    },
    body,
    known: new Set(["read"]),
  });

  test("is treated as the table declares", () => {
    const body = { carried: 0, dropped: 1, read: 2, unknown: 3, constructor: 4 };
    expect(fieldsFor(rest(body), "messages")).toEqual({ carried: 0 });
    expect(fieldsFor(rest(body), "chat")).toEqual({ carried: 0, dropped: 1, unknown: 3, constructor: 4 });
  });

  test.each([[null], [false], [""], [[]], [{}], [1], [["text"]]])(
    "is not refused for %j, which asks for nothing",
    (value) => {
      expect(fieldsFor(rest({ refused: value }), "messages")).toEqual({});
    },
  );

  test.each([[true], [0], [2], ["x"], [["audio"]], [{ a: 1 }]])("is refused for %j", (value) => {
    expect(() => fieldsFor(rest({ refused: value }), "messages")).toThrow(GatewayError);
    expect(fieldsFor(rest({ refused: value }), "chat")).toEqual({ refused: value });
  });
});

describe("ids of calls", () => {
  test("are kept if they fit, and else always have the same substitute", () => {
    expect(shortCallId("abcdef123")).toBe("abcdef123");
    expect(plainCallId("toolu_01-x")).toBe("toolu_01-x");
    const property = fc.property(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }), (one, other) => {
      for (const idOf of [shortCallId, plainCallId]) {
        expect(idOf(one)).toMatch(/^[a-zA-Z0-9_-]+$/);
        expect(idOf(one)).toBe(idOf(one));
        if (one !== other) expect(idOf(one)).not.toBe(idOf(other));
      }
      expect(shortCallId(one)).toHaveLength(9);
    });
    fc.assert(property);
  });
});

test("an effort is moved to the nearest on offer, and never from none to some", () => {
  expect(nearestEffort("low", ["none", "high"])).toBe("none");
  expect(nearestEffort("minimal", ["low", "high"])).toBe("low");
  expect(nearestEffort("low", [])).toBeUndefined();
  expect(nearestEffort("xhigh", ["low", "high"])).toBe("high");
  expect(nearestEffort("medium", ["low", "high"])).toBe("low");
  expect(nearestEffort("none", ["low"])).toBeUndefined();
  expect(nearestEffort("minimal", ["none"])).toBe("none");
  expect(nearestEffort("none", ["none", "low"])).toBe("none");
});

describe("sources", () => {
  test("are data or an address, and come back as they were", () => {
    for (const url of ["data:image/png;base64,AAAA", "https://x.test/a.png", "ms://file-1"]) {
      const source = sourceOfUrl(url, "at");
      expect(source.kind === "stored" ? "" : urlOfSource(source)).toBe(url);
    }
    expect(sourceOfUrl("data:image/svg+xml;charset=utf-8;base64,AAAA", "at")).toMatchObject({
      mediaType: "image/svg+xml",
    });
  });

  test.each([
    "",
    "x",
    "data:",
    "data:,hi",
    "data:image/png,AAAA",
    "data:;base64,AAAA",
    "data:image/png;base64,",
    "//x.test",
  ])("are not %p", (url) => {
    expect(() => sourceOfUrl(url, "at")).toThrow("at: ");
  });

  test("are base64 or refused by name, without repeating their content", () => {
    expect(() => checkBase64("QUJD", "at")).not.toThrow();
    expect(() => checkBase64("QUI=", "at")).not.toThrow();
    for (const data of ["", "é", "A", "A*==", "_-_-"])
      expect(() => checkBase64(data, "at")).toThrow("at: must be base64");
  });
});

test("an estimate grows with the text, and not with an image's bytes", () => {
  const of = (...parts: Parameters<typeof estimateTokens>[0]["turns"][number]["parts"][number][]) =>
    estimateTokens({ turns: [{ role: "user", at: "", parts }], tools: [] });
  const picture = (data: string) => of({ kind: "image", source: { kind: "base64", mediaType: "image/png", data } });
  expect(estimateTokens({ turns: [], tools: [] })).toBe(1);
  expect(of({ kind: "text", text: "a".repeat(3_600) })).toBe(1_004);
  expect(picture("A")).toBe(picture("A".repeat(1_000_000)));
});

describe("consecutive messages of an assistant", () => {
  const said = (role: Turn["role"], text: string): Turn => ({ role, at: "", parts: [{ kind: "text", text }] });
  const textOf = ({ parts }: Turn): string => parts.map((part) => (part.kind === "text" ? part.text : "")).join("");

  test("become one turn, as paragraphs; the given turns are unchanged", () => {
    const turns = [said("user", "a"), said("assistant", "b"), said("assistant", "c"), said("user", "d")];
    const later = [said("assistant", "e"), said("assistant", "f"), said("assistant", "g")];
    expect(joinTurns([...turns, ...later]).map(textOf)).toEqual(["a", "b\n\nc", "d", "e\n\nf\n\ng"]);
    expect(turns.map(textOf)).toEqual(["a", "b", "c", "d"]);
  });

  // A copy of the turn for each message would take longer than a test may.
  test("may be a hundred thousand", () => {
    const turns = Array.from({ length: 100_000 }, () => said("assistant", "x"));
    expect(joinTurns(turns).map(({ parts }) => parts.length)).toEqual([199_999]);
  });
});
