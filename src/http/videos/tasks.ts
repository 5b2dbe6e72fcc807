/** Video jobs as BytePlus's API has them, for its SDKs: the same jobs as at `/v1/videos`. */
import { z } from "@hono/zod-openapi";
import { GatewayError } from "../../core/index.ts";
import { type ModelRouter, modelWithin } from "../../routing/index.ts";
import { type VideoJobs, videoRequest } from "../../videos/index.ts";
import { answerPaid } from "../answer-paid.ts";
import { parseQuery } from "../parse-query.ts";
import { platformRoute, proxiedRoute, type RouteCall } from "../route.ts";

interface Needs {
  videos: VideoJobs;
  router: ModelRouter;
}

/** The path below the provider's base URL. */
const TASKS = "/contents/generations/tasks";

const PATH = `/v1/{provider}${TASKS}`;
const tag = "Video";
const IDS = "filter.task_ids";
const provider = z.string().describe("The prefix of a provider of the kind byteplus.");
const one = z.object({ provider, task_id: z.string().describe("A video job's id.") });
const task = z.looseObject({ id: z.string(), status: z.string() }).meta({ id: "VideoTask" });
const total = z.number().int().describe("Among the caller's newest 500 jobs, or those with the ids.");
const notFound = "The caller has no such video job, or the provider has no such route.";

const page = z.object({
  page_num: z.coerce.number().int().min(1).max(500).default(1),
  page_size: z.coerce.number().int().min(1).max(500).default(10),
  "filter.status": z.string().optional(),
});

/** The prefix in the path. Throws 404 for one whose provider has no such API. */
function providerOf({ pathParameter }: RouteCall, { videos }: Needs): string {
  const prefix = pathParameter("provider");
  if (videos.hasOwnShape(prefix, TASKS)) return prefix;
  throw new GatewayError("route_not_found", `There is no ${TASKS} of a provider with this prefix here.`);
}

function lookupOf(call: RouteCall, services: Needs) {
  const { principal, request, pathParameter } = call;
  return {
    principal,
    request,
    videoId: pathParameter("task_id"),
    provider: providerOf(call, services),
    isOwn: true,
  };
}

export const createTaskRoute = proxiedRoute({
  contract: {
    path: PATH,
    operationId: "createVideoTask",
    tag,
    summary: "Create a video job (BytePlus's shape).",
    params: z.object({ provider }),
    body: videoRequest,
    streams: false,
    isPaid: true,
    answer: z.looseObject({ id: z.string() }),
  },
  surface: "openai",
  handle: (call, services: Needs) => {
    const prefix = providerOf(call, services);
    const modelOf = (model: string | undefined) => model && modelWithin(services.router, prefix, model);
    return answerPaid({ ...call, modelOf }, (request) => services.videos.create("video_generation", request, true));
  },
});

export const getTaskRoute = platformRoute({
  contract: {
    path: `${PATH}/{task_id}`,
    operationId: "getVideoTask",
    tag,
    summary: "A video job (BytePlus's shape).",
    params: one,
    answer: task,
    notFound,
    relays: true,
  },
  access: "token",
  handle: (call, services: Needs) => services.videos.get(lookupOf(call, services)),
});

export const deleteTaskRoute = platformRoute({
  contract: {
    method: "delete",
    path: `${PATH}/{task_id}`,
    operationId: "deleteVideoTask",
    tag,
    summary: "Cancel a video job that waits, or delete one that has ended.",
    params: one,
    answer: z.looseObject({}),
    notFound,
    relays: true,
  },
  access: "token",
  handle: (call, services: Needs) => services.videos.remove(lookupOf(call, services)),
});

export const listTasksRoute = platformRoute({
  contract: {
    path: PATH,
    operationId: "listVideoTasks",
    tag,
    summary: "The caller's own video jobs at a provider, the newest first (BytePlus's shape).",
    params: z.object({ provider }),
    query: page.extend({ [IDS]: z.string().optional().describe("May be repeated, up to 500 times.") }),
    answer: z.object({ total, items: z.array(task) }),
    notFound,
    relays: true,
  },
  access: "token",
  handle: (call, services: Needs) => {
    const url = new URL(call.request.url);
    const ids = url.searchParams.getAll(IDS);
    url.searchParams.delete(IDS);
    const query = parseQuery({ url: url.href }, page);
    return services.videos.listOwn({
      principal: call.principal,
      provider: providerOf(call, services),
      number: query.page_num,
      size: query.page_size,
      status: query["filter.status"],
      ids,
    });
  },
});
