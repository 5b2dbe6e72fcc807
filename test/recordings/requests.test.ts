/**
 * Every recorded request is read by its dialect and written for upstreams of each: none of its text, images and
 * tools is lost, or the request is refused with the name of one of its own fields.
 */
import { describe, expect, test } from "bun:test";
import { type Dialect, GatewayError, type JsonObject, objectsOf } from "../../src/core/index.ts";
import { translations } from "../../src/dialects/index.ts";
import { type Asked, askedIn } from "./asked.ts";
import { type RecordedRequest, requests } from "./recordings.ts";
import { operationOf } from "./upstreams.ts";

const upstreams = [
  { dialect: "chat", upstream: "openai", model: "gpt-5-mini" },
  { dialect: "messages", upstream: "anthropic", model: "claude-sonnet-4-5" },
  { dialect: "responses", upstream: "openai", model: "gpt-5-mini" },
  { dialect: "gemini", upstream: "google", model: "gemini-3-flash-preview" },
] as const;

/** As the upstream gets it, or the gateway's refusal. */
function written({ dialect: from, body }: RecordedRequest, to: (typeof upstreams)[number]): JsonObject | GatewayError {
  const { dialect, upstream, model } = to;
  const facts = dialect === "gemini" ? {} : (operationOf(upstream, dialect).facts?.(model) ?? {});
  try {
    const conversation = translations[from].readRequest(body);
    const request = translations[dialect].writeRequest(conversation, { ...facts, model, origin: upstream });
    return JSON.parse(JSON.stringify(request)) as JsonObject;
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

const nameOf = ({ line, dialect, host }: RecordedRequest): string => `line ${line}, ${dialect} to ${host}`;

describe.each(upstreams)("for an upstream of $dialect", (to) => {
  test.each(requests.map((request) => ({ name: nameOf(request), request })))("$name", ({ request }) => {
    const result = written(request, to);
    if (result instanceof GatewayError) expectRefusal(result, request.body);
    else expectKept(askedIn(to.dialect, result), askedBy(request, to.dialect));
  });

  test("most are not refused", () => {
    const refused = requests.filter((request) => written(request, to) instanceof GatewayError);
    expect(refused.length).toBeLessThan(requests.length / 4);
  });
});

/** Without the tools that an upstream of another dialect does not get: those that the request defers, until its history loads them. */
function askedBy({ dialect, body }: RecordedRequest, to: Dialect): Asked {
  const asked = askedIn(dialect, body);
  if (to === dialect) return asked;
  const deferred = new Set(
    objectsOf(body["tools"]).flatMap((tool) => (tool["defer_loading"] === true ? [tool["name"]] : [])),
  );
  const history = JSON.stringify(body["messages"] ?? body["input"]);
  const isLoaded = (name: string): boolean => new RegExp(`"(?:tool_)?name":"${name}"`).test(history);
  return { ...asked, tools: asked.tools.filter(({ name }) => !deferred.has(name) || isLoaded(name)) };
}

/** 422, with the path of one of the request's fields, or a missing field itself. */
function expectRefusal({ status, param = "", message }: GatewayError, body: JsonObject): void {
  expect(status).toBe(422);
  expect(message).toContain(param);
  const [field = "", ...rest] = param.split(".");
  expect(rest.length === 0 || Object.hasOwn(body, field), param).toBe(true);
  expect(field).toMatch(/^\w+$/);
}

/** Loaded tools stand behind the others. */
const byName = ({ tools }: Asked) => tools.toSorted((one, other) => (one.name < other.name ? -1 : 1));

function expectKept(kept: Asked, asked: Asked): void {
  const lost = asked.texts.filter(
    ({ role, text }) => !kept.texts.some((one) => one.role === role && one.text.includes(text)),
  );
  expect(lost).toEqual([]);
  expect(byName(kept)).toEqual(byName(asked));
  const plain = ({ calls }: Asked) => calls.map(({ name, arguments: said }) => ({ name, arguments: said }));
  expect(plain(kept)).toEqual(plain(asked));
  expect(new Set(kept.calls.map(({ id }) => id)).size).toBe(new Set(asked.calls.map(({ id }) => id)).size);
  expect(kept.results.map(({ call }) => call)).toEqual(asked.results.map(({ call }) => call));
  for (const [index, { text }] of asked.results.entries()) expect(kept.results[index]?.text).toContain(text);
  expect(kept.media.filter((one) => !asked.media.includes(one))).toEqual([]);
  expect(asked.media.filter((one) => !kept.media.includes(one))).toEqual([]);
}
