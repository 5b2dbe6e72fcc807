import { type CallFile, type GatewayError, inputTokens, outputTokens } from "../core/index.ts";
import type { CallRecord } from "../ledger/index.ts";
import type { Logger } from "../telemetry/index.ts";

/** How a call went, for its one log line. Counts and names only: nothing that was said. */
export interface CallReport {
  record: CallRecord;
  requestId: string;
  tokenId: string;
  /** As the caller wrote it. */
  modelId: string;
  credits: string;
  files: readonly CallFile[] | undefined;
  error: GatewayError | undefined;
}

export function logCall(
  logger: Logger,
  { record, requestId, tokenId, modelId, credits, files, error }: CallReport,
): void {
  const { usage, milliseconds, millisecondsToFirstByte } = record;
  const line = {
    request_id: requestId,
    user: record.owner,
    token_id: tokenId,
    model: modelId,
    provider: record.provider,
    streamed: record.streamed,
    status: record.status,
    outcome: record.outcome,
    input_tokens: inputTokens(usage),
    output_tokens: outputTokens(usage),
    credits,
    files: files?.slice(0, FILES_MAX).map(aboutFile),
    files_left_out: files !== undefined && files.length > FILES_MAX ? files.length - FILES_MAX : undefined,
    ms: rounded(milliseconds),
    first_byte_ms: millisecondsToFirstByte === undefined ? undefined : rounded(millisecondsToFirstByte),
    error: error?.code,
    cause: error === undefined ? undefined : causeOf(error),
  };
  logger.info(line, "call");
}

/** Files that a line tells of, and characters of what a client calls them: a form may have a thousand with long names. */
const FILES_MAX = 20;
const NAME_CHARACTERS_MAX = 200;

/** Of a file, nothing but what is said around it. */
function aboutFile({ field, filename, contentType, size, milliseconds }: CallFile): object {
  const [name, called, type] = [field, filename, contentType].map((text) => text?.slice(0, NAME_CHARACTERS_MAX));
  return { field: name, name: called, type, bytes: size, sound_ms: milliseconds };
}

/** The name of what went wrong underneath; its text could repeat what a caller or an upstream said. */
function causeOf(error: GatewayError): string | undefined {
  const { cause } = error;
  if (!(cause instanceof Error)) return undefined;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  return code ?? cause.name;
}

const rounded = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;
