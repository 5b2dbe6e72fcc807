/** The part of the configuration for a collector of OpenTelemetry, and the variables that stand for it. */
import { z } from "zod";
import { fromText } from "./values/from-text.ts";
import type { Variables } from "./values/interpolate.ts";
import { httpUrl } from "./provider.ts";
import { byteSize as size, duration as time } from "./values/units.ts";

const duration = fromText(time);

const KIBIBYTE = 1024;

const contentSize = fromText(
  size.refine((bytes) => bytes >= KIBIBYTE && bytes <= KIBIBYTE ** 2, "between 1KiB and 1MiB"),
);

const content = z
  .strictObject({
    max: contentSize
      .prefault("64KiB")
      .describe("The most bytes of the input, and of the output, that a span has; longer texts are cut."),
  })
  .describe("Sends prompts and answers of text generation too. Unset: spans have counts and names alone.");

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

const headers = z.record(z.string().regex(HEADER_NAME, "the name of a header"), z.string());

const ownSettings = z
  .strictObject({
    off: fromText(z.boolean()).prefault(false),
    endpoint: httpUrl
      .optional()
      .describe("The whole address for this signal, instead of one below the common endpoint."),
    headers: headers.prefault({}).describe("Headers for this signal, beside the common ones."),
  })
  .prefault({});

export const otlp = z
  .strictObject({
    endpoint: httpUrl
      .optional()
      .describe("The base address, as of http://127.0.0.1:4318: /v1/traces and /v1/metrics are below it."),
    headers: headers.prefault({}).describe("Headers of every request, such as authorization."),
    sample: fromText(z.number().min(0).max(1))
      .prefault(1)
      .describe("The share of calls that are traced. A call with a traceparent is traced if its caller traces it."),
    every: duration
      .prefault("15s")
      .describe("How often the metrics are sent. Traces are sent as often, every 5 s at least."),
    timeout: duration.prefault("10s").describe("How long the collector may take to answer."),
    names: z
      .enum(["latest", "1.36"])
      .default("latest")
      .describe("The version of OpenTelemetry's names for generative AI: the latest, or those before their renaming."),
    content: content.optional(),
    resource: z
      .record(z.string().min(1), z.string())
      .prefault({})
      .describe("Attributes of the process, such as service.name, which is tollgate by default."),
    traces: ownSettings,
    metrics: ownSettings,
  })
  .refine(
    ({ endpoint, traces, metrics }) => [traces, metrics].every((each) => each.off || (each.endpoint ?? endpoint)),
    {
      path: ["endpoint"],
      error:
        "an http(s) URL; or leave out the one without an address by traces: { off: true } or metrics: { off: true }",
    },
  )
  .describe(
    "Sends traces and metrics to a collector, as OTLP in JSON over HTTP. Unset: the variables OTEL_EXPORTER_OTLP_*.",
  );

type OtlpConfig = z.output<typeof otlp>;

type Signal = "traces" | "metrics";

/** Where a signal is sent; undefined if it is not. */
export function otlpTarget(
  config: OtlpConfig | undefined,
  signal: Signal,
): { url: string; headers: Record<string, string>; timeoutMs: number } | undefined {
  const own = config?.[signal];
  if (config === undefined || own === undefined || own.off) return undefined;
  const url = own.endpoint ?? `${config.endpoint}/v1/${signal}`;
  return { url, headers: { ...config.headers, ...own.headers }, timeoutMs: config.timeout };
}

/**
 * The same settings as OpenTelemetry's variables have them; undefined if they name no collector for HTTP.
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
export function otlpOf(variables: Variables): object | undefined {
  const read = (name: string): string | undefined => {
    const value = variables[`OTEL_${name}`]?.trim();
    // An empty variable counts as unset.
    return value === "" ? undefined : value;
  };
  if (read("SDK_DISABLED")?.toLowerCase() === "true") return undefined;
  const [traces, metrics] = [signalOf(read, "traces"), signalOf(read, "metrics")];
  if (traces.off && metrics.off) return undefined;
  const [timeout, every] = [read("EXPORTER_OTLP_TIMEOUT"), read("METRIC_EXPORT_INTERVAL")];
  return {
    endpoint: read("EXPORTER_OTLP_ENDPOINT"),
    headers: pairsOf(read("EXPORTER_OTLP_HEADERS")),
    sample: sampleOf(read("TRACES_SAMPLER"), read("TRACES_SAMPLER_ARG")),
    ...(every !== undefined && { every: `${every}ms` }),
    ...(timeout !== undefined && { timeout: `${timeout}ms` }),
    traces,
    metrics,
  };
}

/** Their attributes of the process, which count beside a configured collector too. */
export function resourceOf(variables: Variables): Record<string, string> {
  const name = variables["OTEL_SERVICE_NAME"];
  return {
    ...pairsOf(variables["OTEL_RESOURCE_ATTRIBUTES"]),
    ...(name !== undefined && name !== "" && { "service.name": name }),
  };
}

/** Off if its exporter is another one, or speaks gRPC, which this gateway does not. */
function signalOf(read: (name: string) => string | undefined, signal: Signal) {
  const own = (name: string): string | undefined => read(`EXPORTER_OTLP_${signal.toUpperCase()}_${name}`);
  const protocol = own("PROTOCOL") ?? read("EXPORTER_OTLP_PROTOCOL") ?? "http/json";
  const exporter = read(`${signal.toUpperCase()}_EXPORTER`) ?? "otlp";
  const endpoint = own("ENDPOINT");
  const hasAddress = (endpoint ?? read("EXPORTER_OTLP_ENDPOINT")) !== undefined;
  const off = !hasAddress || !exporter.split(",").includes("otlp") || protocol === "grpc";
  return { off, ...(endpoint !== undefined && { endpoint }), headers: pairsOf(own("HEADERS")) };
}

/** `name=value,…`, with percent-encoded values. */
function pairsOf(text = ""): Record<string, string> {
  return Object.fromEntries(
    text.split(",").flatMap((pair): [string, string][] => {
      const at = pair.indexOf("=");
      return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Every sampler here follows the caller's decision, also without `parentbased_`. */
function sampleOf(sampler = "parentbased_always_on", ratio = "1"): number | string {
  if (sampler.endsWith("always_off")) return 0;
  return sampler.endsWith("traceidratio") ? ratio : 1;
}
