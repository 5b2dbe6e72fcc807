import { z } from "@hono/zod-openapi";
import type { VideoJobs } from "../../videos/index.ts";
import { parseQuery } from "../parse-query.ts";
import { platformRoute, type RouteCall } from "../route.ts";
import { video } from "./video.ts";

const params = z.object({ video_id: z.string().describe("A video job's id.") });
/** Declared with an enum, to which the document has the configured prefixes; any prefix of a provider is taken. */
const provider = z
  .string()
  .meta({
    enum: ["openai", "xai"],
    description: "The prefix of the provider; by default the one that the job's id belongs to.",
  })
  .optional();
const ofOne = z.object({ provider });
const notFound = "The caller has no such video job, or its provider has no such operation.";

const order = z.enum(["asc", "desc"]).default("desc");
const page = z.object({
  provider: z
    .string()
    .meta({ enum: ["openai", "xai"], description: "The prefix of the provider; by default OpenAI's." })
    .optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  order,
  after: z.string().optional().describe("The id of the job before the page."),
});

interface Needs {
  videos: VideoJobs;
}

type Query = Readonly<Record<string, unknown>>;

/** The job that a request is about; other members of its query are the upstream's. */
function lookupOf(
  { principal, request, pathParameter, provider: group }: RouteCall,
  query: z.ZodType<Query & { provider?: string | undefined }>,
  videos: VideoJobs,
) {
  const { provider: named } = parseQuery(request, query);
  const isOwn = group !== undefined && videos.hasOwnShape(group, "/videos");
  return { principal, request, videoId: pathParameter("video_id"), provider: group ?? named, isOwn };
}

export const getVideoRoute = platformRoute({
  contract: {
    path: "/v1/videos/{video_id}",
    operationId: "getVideo",
    tag: "Video",
    summary: "Poll a video job.",
    params,
    query: ofOne,
    answer: video,
    notFound,
    relays: true,
  },
  isGrouped: true,
  access: "token",
  handle: (call, { videos }: Needs) => videos.get(lookupOf(call, ofOne, videos)),
});

export const deleteVideoRoute = platformRoute({
  contract: {
    method: "delete",
    path: "/v1/videos/{video_id}",
    operationId: "deleteVideo",
    tag: "Video",
    summary: "Delete or cancel a video.",
    params,
    query: ofOne,
    answer: z.object({ id: z.string(), object: z.literal("video.deleted"), deleted: z.literal(true) }),
    notFound,
    relays: true,
  },
  isGrouped: true,
  access: "token",
  handle: (call, { videos }: Needs) => videos.remove(lookupOf(call, ofOne, videos)),
});

export const listVideosRoute = platformRoute({
  contract: {
    path: "/v1/videos",
    operationId: "listVideos",
    tag: "Video",
    summary: "List videos.",
    query: page,
    answer: z.object({
      object: z.literal("list"),
      data: z.array(video),
      first_id: z.string().nullable(),
      last_id: z.string().nullable(),
      has_more: z.boolean(),
    }),
    notFound: "Unsupported gateway route, or the upstream resource was not found.",
    relays: true,
  },
  isGrouped: true,
  access: "token",
  handle: ({ principal, request, provider: group }, { videos }: Needs) => {
    const { provider: named, limit, order: direction, after } = parseQuery(request, page);
    return videos.list({ principal, provider: group ?? named, limit, order: direction, after });
  },
});

const content = z.object({
  provider,
  variant: z.string().max(100).optional().describe("video, thumbnail or spritesheet."),
});

export const downloadVideoRoute = platformRoute({
  contract: {
    path: "/v1/videos/{video_id}/content",
    operationId: "downloadVideo",
    tag: "Video",
    summary: "Download video bytes.",
    params,
    query: content,
    answer: z.string().meta({ format: "binary" }),
    media: "video/mp4",
    notFound,
    relays: true,
  },
  isGrouped: true,
  access: "token",
  handle: (call, { videos }: Needs) => videos.download(lookupOf(call, content, videos)),
});
