/** Traces and metrics of running gateways at a collector of OpenTelemetry. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Server } from "bun";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import {
  chatPath,
  type Gateway,
  type Rig,
  root,
  simulatedProviders,
  startGateway,
  startRig,
  until,
} from "../kit/index.ts";

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: string; doubleValue?: number; boolValue?: boolean };
}

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  status?: { code: number };
}

interface Point {
  attributes: Attribute[];
  asDouble?: number;
  count?: string;
  bucketCounts?: string[];
  explicitBounds?: number[];
}

interface Metric {
  name: string;
  sum?: { isMonotonic: boolean; aggregationTemporality: number; dataPoints: Point[] };
  gauge?: { dataPoints: Point[] };
  histogram?: { aggregationTemporality: number; dataPoints: Point[] };
}

/** Decodes its requests. It may go away, and come back on its port. */
class Collector {
  readonly spans: Span[] = [];
  /** The last ones. */
  metrics: Metric[] = [];
  readonly requests: { path: string; headers: Headers; body: string }[] = [];
  #server: Server<undefined>;
  readonly port: number;

  constructor() {
    this.#server = this.#serve(0);
    this.port = this.#server.port ?? 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  goAway(): Promise<void> {
    return this.#server.stop(true);
  }

  comeBack(): void {
    this.#server = this.#serve(this.port);
  }

  /** The spans of the traces with a span that has this attribute. */
  tracesWith(key: string, value: string): Span[] {
    const withIt = this.spans.filter((span) => valuesOf(span.attributes)[key] === value);
    const found = new Set(withIt.map(({ traceId }) => traceId));
    return this.spans.filter(({ traceId }) => found.has(traceId));
  }

  #serve(port: number): Server<undefined> {
    return Bun.serve({
      port,
      hostname: "127.0.0.1",
      fetch: async (request) => {
        const { pathname: path } = new URL(request.url);
        const body = await request.text();
        this.requests.push({ path, headers: request.headers, body });
        const read = JSON.parse(body) as {
          resourceSpans?: { scopeSpans: { spans: Span[] }[] }[];
          resourceMetrics?: { scopeMetrics: { metrics: Metric[] }[] }[];
        };
        for (const { scopeSpans } of read.resourceSpans ?? [])
          for (const { spans } of scopeSpans) this.spans.push(...spans);
        for (const { scopeMetrics } of read.resourceMetrics ?? [])
          this.metrics = scopeMetrics.flatMap(({ metrics }) => metrics);
        return Response.json({});
      },
    });
  }
}

/** The configuration of a section of docs/traces.md. */
function documented(heading: string): object {
  const [, section = ""] = readFileSync(join(root, "docs/traces.md"), "utf8").split(`## ${heading}\n`);
  const [, yaml = ""] = /```yaml\n([\s\S]*?)```/.exec(section) ?? [];
  return parse(yaml) as object;
}

const valuesOf = (attributes: readonly Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const sumOf = (metrics: readonly Metric[], name: string, labels: Record<string, string> = {}): number => {
  const found = metrics.find((metric) => metric.name === name);
  const points = found?.sum?.dataPoints ?? found?.gauge?.dataPoints ?? found?.histogram?.dataPoints ?? [];
  return points
    .filter(({ attributes }) => Object.entries(labels).every(([key, held]) => valuesOf(attributes)[key] === held))
    .reduce((sum, { asDouble, count }) => sum + (asDouble ?? Number(count)), 0);
};

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";
const SECRET_TEXT = "words:5 my-secret-prompt";

const collector = new Collector();
let rig: Rig;
beforeAll(async () => {
  rig = await startRig({
    config: {
      otlp: { endpoint: collector.url, headers: { "x-tenant": "t1" }, every: "200ms" },
      routing: {
        routes: {
          any: { tiers: [[{ model: "openai/gpt-4o-mini+status-503" }], [{ model: "mistral/mistral-small-latest" }]] },
        },
      },
    },
  });
});
afterAll(async () => {
  await rig.stop();
  await collector.goAway();
});

const ask = async (
  gateway: Gateway,
  token: string,
  model: string,
  more: { stream?: boolean; headers?: object } = {},
) => {
  const answer = await fetch(gateway.url + chatPath, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, ...more.headers },
    body: JSON.stringify({ model, stream: more.stream === true, messages: [{ role: "user", content: SECRET_TEXT }] }),
  });
  const text = await answer.text();
  return { status: answer.status, text, id: answer.headers.get("x-request-id") ?? "" };
};

/** Its spans, once all of them are there. */
const traceOf = (id: string): Promise<Span[]> =>
  until(`the trace of ${id}`, () => {
    const spans = collector.tracesWith("tollgate.request_id", id);
    return spans.length > 0 && spans;
  });

describe("a call is a trace", () => {
  test("that continues its caller's, with an attempt at each target, and no content", async () => {
    const token = await rig.gateway.token({ user: "ann" });
    const headers = { traceparent: `00-${TRACE}-${SPAN}-01`, tracestate: "vendor=1", "x-tollgate-session": "thread-1" };
    const { status, id, text } = await ask(rig.gateway, token, "any", { stream: true, headers });
    expect(status).toBe(200);
    const spans = await traceOf(id);
    const server = spans.find(({ kind }) => kind === 2);
    expect(server).toMatchObject({ traceId: TRACE, parentSpanId: SPAN, traceState: "vendor=1", name: "chat" });
    const children = spans.filter((span) => span !== server);
    expect(new Set(children.map(({ parentSpanId }) => parentSpanId))).toEqual(new Set([server?.spanId]));
    const shown = children.map(({ name, kind, status: end }) => [name, kind, end?.code]);
    expect(shown[0]).toEqual(["hold", 1, undefined]);
    expect(
      shown
        .slice(1, -2)
        .every(([name, kind, code]) => name === "chat gpt-4o-mini+status-503" && kind === 3 && code === 2),
    ).toBe(true);
    expect(shown.slice(-2)).toEqual([
      ["chat mistral-small-latest", 3, undefined],
      ["settle", 1, undefined],
    ]);
    expect(valuesOf(server?.attributes ?? [])).toMatchObject({
      "user.id": "ann",
      "gen_ai.conversation.id": "thread-1",
      "tollgate.route": "any",
      "tollgate.outcome": "complete",
    });
    expect(valuesOf(children.at(-2)?.attributes ?? [])).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "mistral_ai",
      "gen_ai.request.stream": true,
      "gen_ai.usage.output_tokens": expect.stringMatching(/^[1-9]/) as string,
    });
    for (const { startTimeUnixNano: from, endTimeUnixNano: to } of children) {
      expect(BigInt(from)).toBeGreaterThanOrEqual(BigInt(server?.startTimeUnixNano ?? 0));
      expect(BigInt(to)).toBeGreaterThanOrEqual(BigInt(from));
      expect(BigInt(to)).toBeLessThanOrEqual(BigInt(server?.endTimeUnixNano ?? 0));
    }
    const sent = collector.requests.map(({ body }) => body).join("\n");
    for (const secret of [SECRET_TEXT, "my-secret", token, text.slice(0, 200)]) expect(sent).not.toContain(secret);
    expect(collector.requests[0]?.headers.get("x-tenant")).toBe("t1");
  });

  test("that has begun without a caller's, and one that its caller does not trace is none", async () => {
    const token = await rig.gateway.token();
    const untraced = { traceparent: `00-${TRACE}-${SPAN}-00` };
    const skipped = await ask(rig.gateway, token, "openai/gpt-4o-mini", { headers: untraced });
    const { id } = await ask(rig.gateway, token, "openai/gpt-4o-mini", { headers: { traceparent: "rubbish" } });
    const spans = await traceOf(id);
    expect(spans.map(({ name }) => name)).toEqual(["hold", "chat gpt-4o-mini", "settle", "chat"]);
    expect(spans.at(-1)).not.toHaveProperty("parentSpanId");
    expect(collector.tracesWith("tollgate.request_id", skipped.id)).toEqual([]);
    const poor = await rig.gateway.token({ user: "poor", credits: 0n });
    const refused = await ask(rig.gateway, poor, "openai/gpt-4o-mini");
    expect(refused.status).toBe(402);
    expect((await traceOf(refused.id)).map(({ name, status }) => [name, status?.code])).toEqual([
      ["hold", 2],
      ["chat", 2],
    ]);
  });
});

test("the metrics are those of a scrape, as sums, gauges and histograms", async () => {
  const token = await rig.gateway.token();
  await ask(rig.gateway, token, "openai/gpt-4o-mini", { stream: true });
  const metrics = await until("the call is counted", () => {
    const count = sumOf(collector.metrics, "tollgate_calls_total", { provider: "openai", class: "ok" });
    return count > 0 && collector.metrics;
  });
  const named = (name: string): Metric | undefined => metrics.find((metric) => metric.name === name);
  expect(named("tollgate_calls_total")?.sum).toMatchObject({ isMonotonic: true, aggregationTemporality: 2 });
  expect(named("tollgate_open_holds")?.gauge?.dataPoints).toHaveLength(1);
  const { dataPoints = [] } = named("tollgate_call_seconds")?.histogram ?? {};
  expect(dataPoints.length).toBeGreaterThan(0);
  for (const { count, bucketCounts = [], explicitBounds = [] } of dataPoints) {
    expect(bucketCounts.reduce((sum, each) => sum + Number(each), 0)).toBe(Number(count));
    expect(bucketCounts).toHaveLength(explicitBounds.length + 1);
  }
});

test("content is in the spans of calls if the configuration wants it, and never in the log", async () => {
  const gateway = await startGateway({
    providers: simulatedProviders(rig.simulators),
    config: { otlp: { endpoint: collector.url, content: {}, metrics: { off: true } } },
  });
  const token = await gateway.token({ user: "dora" });
  const post = (path: string, body: object, headers: Record<string, string> = {}) =>
    fetch(gateway.url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, ...headers },
      body: JSON.stringify(body),
    }).then((answer) => answer.text());
  const messages = [{ role: "user", content: SECRET_TEXT }];
  await post(chatPath, { model: "openai/gpt-4o-mini", messages });
  // Translated, and streamed.
  const stream = { model: "openai/gpt-4o-mini", max_tokens: 50, stream: true, system: "Be brief.", messages };
  await post("/v1/messages", stream);
  await post(chatPath, { model: "openai/gpt-4o-mini", messages }, { traceparent: `00-${TRACE}-${SPAN}-00` });
  await gateway.stop({ keepFolder: true });
  const spans = collector.tracesWith("user.id", "dora").filter(({ kind }) => kind === 3);
  const contents = spans.map(({ attributes }) => {
    const values = valuesOf(attributes);
    const read = (key: string): unknown => {
      const value = values[`gen_ai.${key}`];
      return typeof value === "string" ? JSON.parse(value) : null;
    };
    return [read("system_instructions"), read("input.messages"), read("output.messages")];
  });
  const input = [{ role: "user", parts: [{ type: "text", content: SECRET_TEXT }] }];
  const part = { type: "text", content: expect.stringMatching(/^\S+( \S+){4}/) as string };
  const output = [{ role: "assistant", parts: [part], finish_reason: "stop" }];
  expect(contents).toEqual([
    [null, input, output],
    [[{ type: "text", content: "Be brief." }], input, output],
  ]);
  expect(gateway.log()).not.toContain("secret-prompt");
  rmSync(gateway.folder, { recursive: true });
});

test("a collector that is away costs no call anything; the spans that waited are sent when it is back", async () => {
  await collector.goAway();
  const token = await rig.gateway.token();
  const ids: string[] = [];
  for (let sent = 0; sent < 20; sent += 1) {
    const { status, id } = await ask(rig.gateway, token, "openai/gpt-4o-mini");
    expect(status).toBe(200);
    ids.push(id);
  }
  await until("its absence is noticed", () =>
    rig.gateway.logLines().some(({ msg, signal }) => signal === "traces" && String(msg).includes("does not take")),
  );
  collector.comeBack();
  for (const id of ids) await traceOf(id);
  await until(
    "its return is counted",
    () => sumOf(collector.metrics, "tollgate_spans_total", { outcome: "sent" }) > 60,
  );
  expect(sumOf(collector.metrics, "tollgate_spans_total", { outcome: "dropped" })).toBe(0);
});

test("the variables of OpenTelemetry name a collector too; the last spans and metrics are sent at the end", async () => {
  const own = new Collector();
  const gateway = await startGateway({
    providers: simulatedProviders(rig.simulators),
    variables: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${own.url}/base/`,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20abc",
      OTEL_METRIC_EXPORT_INTERVAL: "60000",
      OTEL_SERVICE_NAME: "my-gateway",
    },
  });
  await ask(gateway, await gateway.token(), "openai/gpt-4o-mini");
  await gateway.stop();
  expect(own.spans.map(({ name }) => name)).toEqual(["hold", "chat gpt-4o-mini", "settle", "chat"]);
  expect(sumOf(own.metrics, "tollgate_calls_total")).toBe(1);
  expect(new Set(own.requests.map(({ path }) => path))).toEqual(new Set(["/base/v1/traces", "/base/v1/metrics"]));
  for (const { headers, body } of own.requests) {
    expect(headers.get("authorization")).toBe("Basic abc");
    expect(body).toContain(`"service.name","value":{"stringValue":"my-gateway"}`);
  }
  await own.goAway();
});

test("the configuration for Langfuse in the documentation sends it traces alone, at its path, with its headers", async () => {
  const langfuse = new Collector();
  const { otlp } = documented("Langfuse and the like") as { otlp: { endpoint: string } };
  const endpoint = otlp.endpoint.replace("https://cloud.langfuse.com", langfuse.url);
  const gateway = await startGateway({
    providers: simulatedProviders(rig.simulators),
    config: { otlp: { ...otlp, endpoint } },
    variables: { LANGFUSE_AUTH: "cGs6c2s=" },
  });
  const headers = { "x-tollgate-session": "thread-1" };
  await ask(gateway, await gateway.token({ user: "ann" }), "openai/gpt-4o-mini", { headers });
  await gateway.stop();
  expect(langfuse.requests.map(({ path }) => path)).toEqual(["/api/public/otel/v1/traces"]);
  const [request] = langfuse.requests;
  expect(request?.headers.get("authorization")).toBe("Basic cGs6c2s=");
  expect(request?.headers.get("x-langfuse-ingestion-version")).toBe("4");
  expect(request?.headers.get("content-type")).toBe("application/json");
  const { attributes = [] } = langfuse.spans.find(({ kind }) => kind === 2) ?? {};
  expect(valuesOf(attributes)).toMatchObject({ "user.id": "ann", "session.id": "thread-1" });
  const generation = valuesOf(langfuse.spans.find(({ kind }) => kind === 3)?.attributes ?? []);
  expect(generation).toMatchObject({ "gen_ai.request.model": "gpt-4o-mini", "gen_ai.operation.name": "chat" });
  expect(Number(generation["gen_ai.usage.cost"])).toBeGreaterThan(0);
  await langfuse.goAway();
});
