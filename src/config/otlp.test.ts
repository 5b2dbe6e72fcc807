import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "./load.ts";
import { otlpTarget } from "./otlp.ts";

const folder = mkdtempSync(join(tmpdir(), "tollgate-otlp-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));

function load(yaml: string, variables: Record<string, string> = {}) {
  const file = join(folder, "tollgate.yaml");
  writeFileSync(file, yaml);
  return loadConfig({ file, variables }).config.otlp;
}

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector:4318/" };

describe("a configured collector", () => {
  test("has an address for each signal, and its headers", () => {
    const otlp = load(
      `otlp:
  endpoint: https://otel.example.com/otlp
  headers: { authorization: "Basic \${AUTH}" }
  every: 30s
  metrics: { endpoint: "http://metrics:9090/api/v1/otlp/v1/metrics", headers: { x-tenant: a } }`,
      { AUTH: "abc" },
    );
    expect(otlp).toMatchObject({ sample: 1, every: 30_000, names: "latest" });
    expect(otlpTarget(otlp, "traces")).toEqual({
      url: "https://otel.example.com/otlp/v1/traces",
      headers: { authorization: "Basic abc" },
      timeoutMs: 10_000,
    });
    expect(otlpTarget(otlp, "metrics")).toMatchObject({
      url: "http://metrics:9090/api/v1/otlp/v1/metrics",
      headers: { authorization: "Basic abc", "x-tenant": "a" },
    });
  });

  test("may be for one signal alone", () => {
    const otlp = load("otlp: { endpoint: 'http://c:4318', metrics: { off: true } }");
    expect([otlpTarget(otlp, "traces")?.url, otlpTarget(otlp, "metrics")]).toEqual([
      "http://c:4318/v1/traces",
      undefined,
    ]);
    expect(otlpTarget(undefined, "traces")).toBeUndefined();
  });

  test.each<[string, string]>([
    ["otlp: {}", "otlp.endpoint: "],
    ["otlp: { traces: { endpoint: 'http://c:1/v1/traces' } }", "otlp.endpoint: "],
    ["otlp: { endpoint: 'ftp://c' }", "otlp.endpoint: an http(s) URL"],
    ["otlp: { endpoint: 'http://user:secret@c' }", "otlp.endpoint: an http(s) URL without user"],
    ["otlp: { endpoint: 'http://c', headers: { 'a b': c } }", "otlp.headers"],
    ["otlp: { endpoint: 'http://c', sample: 2 }", "otlp.sample: "],
    ["otlp: { endpoint: 'http://c', protocol: grpc }", "otlp.protocol: unknown key"],
  ])("%s is refused", (yaml, message) => {
    expect(() => load(yaml)).toThrow(message);
  });
});

describe("OpenTelemetry's variables", () => {
  test("name the collector if the file does not", () => {
    const otlp = load("{}", {
      ...endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Basic%20abc%3D, x-tenant = t,rubbish",
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: "x-trace=%zz",
      OTEL_EXPORTER_OTLP_TIMEOUT: "2500",
      OTEL_METRIC_EXPORT_INTERVAL: "60000",
      OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment=prod,team=a%20b",
      OTEL_SERVICE_NAME: "gw",
    });
    expect(otlp).toMatchObject({ sample: 0.25, every: 60_000, timeout: 2_500 });
    expect(otlp?.resource).toEqual({ "deployment.environment": "prod", team: "a b", "service.name": "gw" });
    expect(otlpTarget(otlp, "traces")).toEqual({
      url: "http://collector:4318/v1/traces",
      headers: { authorization: "Basic abc=", "x-tenant": "t", "x-trace": "%zz" },
      timeoutMs: 2_500,
    });
    expect(otlpTarget(otlp, "metrics")?.headers).not.toHaveProperty("x-trace");
  });

  test("give way to the file, except for the attributes of the process that it does not set", () => {
    const otlp = load("otlp: { endpoint: 'http://own:1', resource: { team: b } }", {
      ...endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=secret",
      OTEL_RESOURCE_ATTRIBUTES: "team=a,zone=z",
    });
    expect(otlpTarget(otlp, "traces")).toMatchObject({ url: "http://own:1/v1/traces", headers: {} });
    expect(otlp?.resource).toEqual({ team: "b", zone: "z" });
  });

  test.each<[string, Record<string, string>, [boolean, boolean]]>([
    ["none", {}, [false, false]],
    ["an address", endpoint, [true, true]],
    ["an empty address", { OTEL_EXPORTER_OTLP_ENDPOINT: " " }, [false, false]],
    ["switched off", { ...endpoint, OTEL_SDK_DISABLED: "TRUE" }, [false, false]],
    ["one address", { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://c:1/x" }, [true, false]],
    ["another exporter", { ...endpoint, OTEL_METRICS_EXPORTER: "prometheus" }, [true, false]],
    ["gRPC", { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, [false, false]],
    ["gRPC for one", { ...endpoint, OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: "grpc" }, [true, false]],
    [
      "protobuf, of which collectors take JSON too",
      { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" },
      [true, true],
    ],
  ])("%s", (_, variables, expected) => {
    const otlp = load("{}", variables);
    expect([otlpTarget(otlp, "traces") !== undefined, otlpTarget(otlp, "metrics") !== undefined]).toEqual(expected);
  });

  test("with a text that is no dollar sign's are not read as references", () => {
    expect(load("{}", { ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: "a=${HOME}" })?.headers).toEqual({ a: "${HOME}" });
  });
});
