import { formatCredits, type GatewayError, inputTokens, type Nano, outputTokens, type Usage } from "../core/index.ts";
import type { Principal } from "../auth/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { Target } from "../routing/index.ts";

/** How a call went, for its one log line. Counts and names only: nothing that was said. */
export interface CallReport {
  requestId: string;
  principal: Principal;
  target: Target;
  streamed: boolean;
  status: number;
  outcome: "complete" | "failed" | "interrupted" | "abandoned";
  usage: Usage | undefined;
  credits: Nano;
  milliseconds: number;
  millisecondsToFirstByte: number | undefined;
  error?: GatewayError | undefined;
}

export function logCall(logger: Logger, report: CallReport): void {
  const { principal, target, usage, error } = report;
  const line = {
    request_id: report.requestId,
    user: principal.user,
    token_id: principal.tokenId,
    model: target.modelId,
    provider: target.route.prefix,
    streamed: report.streamed,
    status: report.status,
    outcome: report.outcome,
    input_tokens: usage === undefined ? 0 : inputTokens(usage),
    output_tokens: usage === undefined ? 0 : outputTokens(usage),
    credits: formatCredits(report.credits),
    ms: rounded(report.milliseconds),
    first_byte_ms: report.millisecondsToFirstByte === undefined ? undefined : rounded(report.millisecondsToFirstByte),
    ...(error === undefined ? {} : { error: error.code, cause: causeOf(error) }),
  };
  logger.info(line, "call");
}

/** The name of what went wrong underneath; its text could repeat what a caller or an upstream said. */
function causeOf(error: GatewayError): string | undefined {
  const { cause } = error;
  if (!(cause instanceof Error)) return undefined;
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
  return code ?? cause.name;
}

const rounded = (milliseconds: number): number => Math.round(milliseconds * 10) / 10;
