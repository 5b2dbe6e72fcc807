export { createLogger, type Logger, type ServerLogger } from "./logger.ts";
export { OtlpEndpoint } from "./otlp/endpoint.ts";
export { SpanQueue } from "./otlp/span-queue.ts";
export { attribute, nanoseconds, quoted, type OtlpResource, resourceJson } from "./otlp/values.ts";
