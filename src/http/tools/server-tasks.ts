/**
 * Tasks of other servers. Their ids are sealed for the user and the URL, with the tool and the server's own id: any node follows a task,
 * and nobody else's.
 */
import { z } from "zod";
import type { JsonObject } from "../../core/index.ts";
import { RpcError, rpcCodes, type TaskRequest, type ToolTask } from "../../mcp/index.ts";
import {
  askableIn,
  readTask,
  type RequestStates,
  ServerError,
  type ToolDoor,
  type ToolSeeker,
  type ToolTarget,
} from "../../tools/index.ts";

/** Ids of the gateway's own tasks begin otherwise. */
const PREFIX = "task:";

const named = z.object({
  /** The name of the tool at the URL. */
  tool: z.string(),
  /** Whose account at the server it was. */
  account: z.string(),
  id: z.string(),
});

/** Whose task it is, and where. */
export interface TaskPlace {
  door: ToolDoor;
  /** The id of the user. */
  user: string;
  states: RequestStates;
}

function ownerOf({ door, user }: TaskPlace): string[] {
  return [user, "task", door.name];
}

/** A task that a server has begun, under an id for the caller. */
export function sealedTask(
  task: ToolTask,
  { tool, target: { access } }: { tool: string; target: ToolTarget },
  place: TaskPlace,
): ToolTask {
  const text = JSON.stringify({ tool, account: access.owner, id: task.taskId } satisfies z.input<typeof named>);
  return { ...task, taskId: PREFIX + place.states.seal(text, ownerOf(place)) };
}

/** Who asks for a task. */
export interface TaskSeeker extends TaskPlace {
  seeker: ToolSeeker;
}

interface ServerTask {
  target: ToolTarget;
  /** The server's own id. */
  id: string;
}

/** Undefined unless the task is the caller's, who may still call its tool. */
async function taskFor({ id }: TaskRequest, { seeker, ...place }: TaskSeeker): Promise<ServerTask | undefined> {
  const opened = id.startsWith(PREFIX) ? openedId(id.slice(PREFIX.length), place) : undefined;
  if (opened === undefined) return undefined;
  const { tools } = await place.door.find({ ...seeker, name: opened.tool });
  const target = tools.get(opened.tool);
  return target?.access.owner === opened.account ? { target, id: opened.id } : undefined;
}

function openedId(sealed: string, place: TaskPlace): z.output<typeof named> | undefined {
  try {
    return named.parse(JSON.parse(place.states.open(sealed, ownerOf(place))));
  } catch (thrown) {
    if (thrown instanceof RpcError) return undefined;
    throw thrown;
  }
}

/** No server of 2025 has tasks, so that none asks the client on the way. */
const NOBODY = { owner: "", session: undefined };

/** What the task's server answers; undefined if the caller has no such task, or the server has none. Rejects as `ToolServer.askBy`. */
async function asked(
  found: ServerTask | undefined,
  { method, more = {} }: { method: string; more?: JsonObject },
  { capabilities, signal }: TaskRequest,
): Promise<JsonObject | undefined> {
  if (found === undefined) return undefined;
  const { target, id } = found;
  const input = { client: NOBODY, capabilities, takesQuestions: true, responses: undefined, state: undefined };
  try {
    return await target.server.askBy(target.access, { method, params: { taskId: id, ...more }, signal, input });
  } catch (thrown) {
    if (thrown instanceof ServerError && thrown.code === rpcCodes.invalidParams) return undefined;
    throw thrown;
  }
}

/** Undefined if the caller has no such task. Rejects with a `ServerError` or a `GatewayError`. */
export async function serverTask(request: TaskRequest, seeker: TaskSeeker): Promise<ToolTask | undefined> {
  const result = await asked(await taskFor(request, seeker), { method: "tasks/get" }, request);
  if (result === undefined) return undefined;
  const { inputRequests, ...task } = readTask(result);
  return {
    ...task,
    taskId: request.id,
    ...(inputRequests !== undefined && { inputRequests: askableIn(inputRequests, request.capabilities) }),
  };
}

/** Gives a task the client's answers. False if the caller has no such task. Rejects as `serverTask`. */
export async function updateServerTask(
  request: TaskRequest,
  inputResponses: JsonObject,
  seeker: TaskSeeker,
): Promise<boolean> {
  const found = await taskFor(request, seeker);
  return (await asked(found, { method: "tasks/update", more: { inputResponses } }, request)) !== undefined;
}

/** False if the caller has no such task. Rejects as `serverTask`. */
export async function cancelServerTask(request: TaskRequest, seeker: TaskSeeker): Promise<boolean> {
  return (await asked(await taskFor(request, seeker), { method: "tasks/cancel" }, request)) !== undefined;
}
