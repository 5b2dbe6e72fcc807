import { answerJson } from "../shared/answer-json.ts";
import { isAnything, isFlag, isInteger, isList, isOneOf, isText } from "../shared/check.ts";
import { bearerKey } from "../shared/http.ts";
import { asArray, asObject, type JsonObject, stringOr } from "../shared/json.ts";
import { record, values } from "../shared/shape.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { clipAnswer } from "../shared/videos/clip.ts";
import { readVideoScenario, type VideoJob } from "../shared/videos/stored-videos.ts";
import { byteplusErrors, byteplusRefusal } from "./errors.ts";

const path = "/byteplus/api/v3/contents/generations/tasks";
const filesFolder = "/byteplus/tos";
const framesPerSecond = 24;

const shape = record(
  values({
    model: isText,
    content: isList,
    resolution: isOneOf("480p", "720p", "1080p", "2k", "4k"),
    ratio: isOneOf("16:9", "4:3", "1:1", "3:4", "9:16", "21:9", "adaptive"),
    duration: isInteger(-1, 60),
    frames: isInteger(1, 1_000),
    seed: isInteger(-1, 4_294_967_295),
    watermark: isFlag,
    camera_fixed: isFlag,
    generate_audio: isFlag,
    return_last_frame: isFlag,
    draft: isFlag,
    service_tier: isOneOf("default", "flex"),
    execution_expires_after: isInteger(3_600, 259_200),
    callback_url: isText,
    safety_identifier: isText,
    priority: isAnything,
    tools: isList,
    reasoning_effort: isText,
    subdivision_level: isText,
    file_format: isText,
    optimize_prompt: isAnything,
    human_face_mode: isAnything,
  }),
  { required: ["model", "content"] },
);

const accountOf = (call: Call): string => bearerKey(call.headers) ?? "";

function create(call: Call): Answer {
  return answerJson(call, {
    errors: byteplusErrors,
    check: (body) => shape(body, ""),
    answer: (body, model) => start(call, body, model),
  });
}

function start(call: Call, body: JsonObject, model: string): Answer {
  const { videos } = call.kept;
  const prompt = asArray(body["content"])
    .map((part) => stringOr(asObject(part)["text"], ""))
    .join("\n");
  const id = `cgt-${call.identity.hex(`video ${videos.next()}`, 32)}`;
  const frames = body["frames"];
  const asked = Number(body["duration"] ?? parameterIn(prompt, "dur|duration") ?? 5);
  const duration = asked === -1 ? 8 : asked;
  const told = {
    id,
    model,
    resolution: stringOr(body["resolution"], parameterIn(prompt, "rs|resolution") ?? "720p"),
    ratio: stringOr(body["ratio"], parameterIn(prompt, "rt|ratio") ?? "16:9"),
    ...(frames === undefined ? { duration } : { frames }),
    framespersecond: framesPerSecond,
    seed: body["seed"] ?? call.identity.number("seed", 1_000_000),
    service_tier: stringOr(body["service_tier"], "default"),
    execution_expires_after: body["execution_expires_after"] ?? 172_800,
    generate_audio: body["generate_audio"] ?? true,
    draft: body["draft"] ?? false,
  };
  const seconds = frames === undefined ? duration : Number(frames) / framesPerSecond;
  const job = { account: accountOf(call), id, body: told, createdAt: videos.clock.now, seconds };
  videos.add({ ...job, ...readVideoScenario(prompt) });
  return jsonAnswer({ id });
}

/** A parameter in the text, in the older form `--dur 5`. */
function parameterIn(prompt: string, names: string): string | undefined {
  return new RegExp(`--(?:${names})\\s+(\\S+)`).exec(prompt)?.[1];
}

/** The longer and the shorter side of a 16:9 frame; other ratios have about as many pixels. */
const frames: { readonly [resolution: string]: readonly [number, number] } = {
  "480p": [864, 480],
  "720p": [1_280, 720],
  "1080p": [1_920, 1_080],
  "2k": [2_560, 1_440],
  "4k": [3_840, 2_160],
};

function tokensOf({ body, seconds }: VideoJob): number {
  const [width, height] = frames[String(body["resolution"])] ?? [1_280, 720];
  return Math.floor((width * height * framesPerSecond * seconds) / 1_024);
}

const secondsOf = (milliseconds: number): number => Math.floor(milliseconds / 1_000);

function taskBody(call: Call, job: VideoJob): JsonObject {
  const { videos } = call.kept;
  const { phase, endedAt } = videos.phaseOf(job);
  const times = {
    created_at: secondsOf(job.createdAt),
    updated_at: secondsOf(phase === "ended" ? endedAt : videos.clock.now),
  };
  const told = { ...job.body, ...times, error: null };
  if (phase !== "ended") return { ...told, status: phase };
  if (job.cancelled === true) return { ...told, status: "cancelled" };
  if (job.end === "expired") return { ...told, status: "expired" };
  if (job.end !== "completed") {
    const blocked = {
      code: "OutputVideoSensitiveContentDetected",
      message: "The output video may contain sensitive information.",
    };
    const failed = { code: "InternalServiceError", message: "The service encountered an unexpected internal error." };
    return { ...told, status: "failed", error: job.end === "blocked" ? blocked : failed };
  }
  const tokens = tokensOf(job);
  const url = `http://${call.headers["host"] ?? "localhost"}${filesFolder}/${job.id}.mp4`;
  return {
    ...told,
    status: "succeeded",
    content: { video_url: url },
    usage: { completion_tokens: tokens, total_tokens: tokens },
  };
}

const withJob =
  (handle: (call: Call, job: VideoJob) => Answer) =>
  (call: Call): Answer => {
    const id = call.parameters["id"] ?? "";
    const job = call.kept.videos.get(accountOf(call), id);
    if (job !== undefined) return handle(call, job);
    return errorAnswer(byteplusRefusal(404, "ResourceNotFound", `The task ${id} does not exist.`, "NotFound"));
  };

function list(call: Call): Answer {
  const { query } = call;
  const [page, size] = [Number(query.get("page_num") ?? 1), Number(query.get("page_size") ?? 10)];
  const ids = query.getAll("filter.task_ids");
  const status = query.get("filter.status");
  const tier = query.get("filter.service_tier");
  const items = call.kept.videos
    .all(accountOf(call))
    .toReversed()
    .map((job) => taskBody(call, job))
    .filter((task) => ids.length === 0 || ids.includes(String(task["id"])))
    .filter(
      (task) => (status === null || task["status"] === status) && (tier === null || task["service_tier"] === tier),
    );
  return jsonAnswer({ total: items.length, items: items.slice((page - 1) * size, page * size) });
}

/** A waiting task is cancelled, an ended one forgotten; one that runs goes on. */
function remove(call: Call, job: VideoJob): Answer {
  const { videos } = call.kept;
  const { phase } = videos.phaseOf(job);
  if (phase === "running" || job.cancelled === true) {
    const message = `The task in status ${job.cancelled === true ? "cancelled" : "running"} can't be deleted.`;
    return errorAnswer(byteplusRefusal(409, "InvalidAction.StatusConflict", message, "Conflict"));
  }
  if (phase === "queued") videos.add({ ...job, cancelled: true });
  else videos.delete(job.id);
  return jsonAnswer({});
}

function download(call: Call): Answer {
  const id = (call.parameters["file"] ?? "").replace(/\.mp4$/, "");
  return call.kept.videos.find(id) === undefined ? errorAnswer(byteplusErrors.forStatus(404)) : clipAnswer(call);
}

/** BytePlus's tasks. */
export const videoRoutes: readonly Route[] = [
  { method: "POST", path, handle: create },
  { method: "GET", path, handle: list },
  { method: "GET", path: `${path}/:id`, handle: withJob((call, job) => jsonAnswer(taskBody(call, job))) },
  { method: "DELETE", path: `${path}/:id`, handle: withJob(remove) },
  { method: "GET", path: `${filesFolder}/:file`, open: true, errors: byteplusErrors, handle: download },
];
