import { z } from "@hono/zod-openapi";
import type { VideoOperation } from "../../core/index.ts";
import { videoChangeRequest, type VideoJobs, videoRequest } from "../../videos/index.ts";
import { answerPaid } from "../answer-paid.ts";
import { file, partNames } from "../contract.ts";
import { proxiedRoute } from "../route.ts";
import { video } from "./video.ts";

interface Creation {
  path: string;
  operationId: string;
  summary: string;
  operation: VideoOperation;
}

const text = z.string().optional();

const form = z
  .object({
    model: z.string().describe("Provider-prefixed video model."),
    prompt: text,
    seconds: text,
    size: text,
    webhook_url: text,
    input_reference: file.optional(),
  })
  .catchall(z.string())
  .meta({ id: "VideoForm", ...partNames, description: "The fields of JSON as texts, and files." });

/** An edit or extension of an own video names no model. */
const changeForm = form
  .extend({ model: z.string().optional(), video: file.optional() })
  .meta({ id: "VideoChangeForm", ...partNames, description: "The fields of JSON as texts, and files." });

/** Every route that creates a job: JSON or a form in, the queued job out. */
function creationRoute({ path, operationId, summary, operation }: Creation) {
  const isNew = operation === "video_generation";
  const bodies = isNew ? { body: videoRequest, form } : { body: videoChangeRequest, form: changeForm };
  return proxiedRoute({
    contract: { path, operationId, tag: "Video", summary, ...bodies, streams: false, isPaid: true, answer: video },
    surface: "openai",
    namesModel: true,
    handle: (call, { videos }: { videos: VideoJobs }) => {
      const isOwn = call.provider !== undefined && videos.hasOwnShape(call.provider, "/videos");
      return answerPaid(call, (request) => videos.create(operation, request, isOwn));
    },
  });
}

export const createVideoRoute = creationRoute({
  path: "/v1/videos",
  operationId: "createVideo",
  summary: "Create a video job.",
  operation: "video_generation",
});

export const generateVideoRoute = creationRoute({
  path: "/v1/videos/generations",
  operationId: "createVideoGeneration",
  summary: "Create a video generation job.",
  operation: "video_generation",
});

export const editVideoRoute = creationRoute({
  path: "/v1/videos/edits",
  operationId: "createVideoEdit",
  summary: "Edit a video.",
  operation: "video_edit",
});

export const extendVideoRoute = creationRoute({
  path: "/v1/videos/extensions",
  operationId: "createVideoExtension",
  summary: "Extend a video.",
  operation: "video_extension",
});
