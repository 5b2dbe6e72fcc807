/** Tasks of other servers: work that goes on after its call (the extension `io.modelcontextprotocol/tasks`). */
import { GatewayError, type JsonObject, objectOf, objectsOf, stringOf } from "../../core/index.ts";
import type { ToolTask } from "../../mcp/index.ts";

const TASK_ID_CHARACTERS_MAX = 1_024;

const statuses: Readonly<Record<string, ToolTask["status"]>> = {
  working: "working",
  input_required: "input_required",
  completed: "completed",
  failed: "failed",
  cancelled: "cancelled",
};

/** Whether a server has answered a call with a task. */
export function isTask(result: JsonObject): boolean {
  return result["resultType"] === "task";
}

/** A task as its server describes it, with the server's own id. Throws 502 if nobody could follow it. */
export function readTask(described: JsonObject): ToolTask {
  const { taskId, status, statusMessage, createdAt, lastUpdatedAt, ttlMs, pollIntervalMs } = described;
  const known = Object.hasOwn(statuses, stringOf(status)) ? statuses[stringOf(status)] : undefined;
  const isId = typeof taskId === "string" && taskId !== "" && taskId.length <= TASK_ID_CHARACTERS_MAX;
  if (!isId || known === undefined)
    throw new GatewayError("upstream_invalid_answer", "The server answers with a task that is none.");
  return {
    taskId,
    status: known,
    ...(typeof statusMessage === "string" && { statusMessage }),
    createdAt: stringOf(createdAt),
    lastUpdatedAt: stringOf(lastUpdatedAt),
    ttlMs: isMilliseconds(ttlMs) ? ttlMs : null,
    ...(isMilliseconds(pollIntervalMs) && { pollIntervalMs }),
    ...outcomeOf(known, described),
  };
}

/** The member that a task of this status has besides those of all. */
function outcomeOf(
  status: ToolTask["status"],
  described: JsonObject,
): Pick<ToolTask, "result" | "error" | "inputRequests"> {
  const [result, error, asked] = ["result", "error", "inputRequests"].map((name) => objectOf(described[name]));
  if (status === "completed" && result !== undefined) {
    const { resultType: _type, content, ...rest } = result;
    return { result: { ...rest, content: objectsOf(content) } };
  }
  if (status === "failed" && error !== undefined) return { error };
  return status === "input_required" && asked !== undefined ? { inputRequests: asked } : {};
}

function isMilliseconds(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0;
}
