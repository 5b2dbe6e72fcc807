/** The values of OpenTelemetry's protocol in JSON: https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding */

/** One attribute. */
export function attribute(key: string, value: string | number | boolean): string {
  return `{"key":"${key}","value":${valueOf(value)}}`;
}

function valueOf(value: string | number | boolean): string {
  if (typeof value === "string") return `{"stringValue":${quoted(value)}}`;
  if (typeof value === "boolean") return `{"boolValue":${value}}`;
  // 64-bit integers are texts.
  return Number.isSafeInteger(value)
    ? `{"intValue":"${value}"}`
    : `{"doubleValue":${Number.isFinite(value) ? value : 0}}`;
}

/** Printable ASCII without characters that are escaped. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** A text in JSON. Most need no escapes. */
export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Milliseconds since the epoch in nanoseconds, exact to the microsecond, as a text: a number would not hold them. */
export function nanoseconds(milliseconds: number): string {
  const whole = Math.floor(milliseconds);
  const microseconds = String(Math.floor((milliseconds - whole) * 1_000) + 1_000);
  return `${whole}${microseconds.slice(1)}000`;
}

/** The process that sends: its service, its version, and which of several it is. */
export interface OtlpResource {
  version: string;
  /** The name of the process among those of the service. */
  instance: string;
  /** The operator's own attributes. */
  attributes: Readonly<Record<string, string>>;
}

export function resourceJson({ version, instance, attributes }: OtlpResource): string {
  const all = {
    "service.name": "tollgate",
    "service.version": version,
    "service.instance.id": instance,
    ...attributes,
  };
  const written = Object.entries(all).map(([key, value]) => `{"key":${JSON.stringify(key)},"value":${valueOf(value)}}`);
  return `{"attributes":[${written.join(",")}]}`;
}
