/** The part of the composition that records traces of paid work, and sends them to a collector. */
import { hostname } from "node:os";
import type { WorkDependencies, WorkObserver } from "../charges/index.ts";
import { type Config, otlpTarget } from "../config/index.ts";
import { type Environment, traceContextOf } from "../core/index.ts";
import { upstreamName } from "../providers/index.ts";
import { type Logger, OtlpEndpoint, SpanQueue } from "../telemetry/index.ts";
import { genAiNames, TraceObserver } from "../traces/index.ts";

/** How long a span waits at most before it is sent, unless metrics are sent more often. */
const SEND_MS = 5_000;

interface TracingOptions {
  config: Config;
  environment: Environment;
  logger: Logger;
  version: string;
}

export interface Tracing {
  observer: WorkObserver;
  traceOf: NonNullable<WorkDependencies["traceOf"]>;
  /** Undefined unless the configuration wants content. */
  contents: WorkDependencies["contents"];
  /** Counts of spans. */
  spans: { readonly sent: number; readonly dropped: number };
  /** Begins to read the configuration in force, whose providers' APIs have names in the spans. */
  watch: (inForce: () => Config) => void;
  /** Sends the last spans, for a bounded time. */
  close: () => Promise<void>;
}

/** Undefined if the configuration names no collector of traces. */
export function createTracing({ config, environment, logger, version }: TracingOptions): Tracing | undefined {
  const { otlp } = config;
  const target = otlpTarget(otlp, "traces");
  if (otlp === undefined || target === undefined) return undefined;
  const { clock, randomBytes, randomFraction, fetch } = environment;
  let inForce = (): Config => config;
  let read: Config | undefined;
  let apis: ReadonlyMap<string, string> = new Map();
  const apiOf = (prefix: string): string => {
    const current = inForce();
    if (current !== read) [read, apis] = [current, apisOf(current)];
    return apis.get(prefix) ?? prefix;
  };
  const spans = new SpanQueue({
    endpoint: new OtlpEndpoint({ ...target, signal: "traces", fetch, logger }),
    resource: { version, instance: `${hostname()}:${process.pid}`, attributes: otlp.resource },
    everyMs: Math.min(otlp.every, SEND_MS),
    onSend: () => observer.handOver(),
  });
  const observer = new TraceObserver({
    names: genAiNames[otlp.names],
    apiOf,
    sample: otlp.sample,
    contentBytesMax: otlp.content?.max,
    onTrace: (written) => spans.add(written),
    clock,
    randomBytes,
    randomFraction,
  });
  return {
    observer,
    traceOf: traceContextOf,
    contents: otlp.content && observer,
    spans,
    watch: (current) => void (inForce = current),
    async close() {
      observer.handOver(true);
      await spans.close();
    },
  };
}

/** The names of APIs by the prefixes of their providers; a compatible upstream without a name has that of its prefix. */
function apisOf({ providers }: Config): Map<string, string> {
  return new Map(
    Object.entries(providers).map(([prefix, { base_url: baseUrl, kind, preset }]) => {
      const api = upstreamName({ kind, preset, baseUrl });
      return [prefix, api === "openai-compatible" ? prefix : api];
    }),
  );
}
