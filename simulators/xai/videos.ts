import { answerJson } from "../shared/answer-json.ts";
import { badValue, isAnything, isInteger, isOneOf, isText, isTextOrRecord, type Problem } from "../shared/check.ts";
import { bearerKey } from "../shared/http.ts";
import { isGiven, type JsonObject, stringOr } from "../shared/json.ts";
import { isFormType } from "../shared/multipart.ts";
import { record, type Shape, values } from "../shared/shape.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../shared/types.ts";
import { clipAnswer } from "../shared/videos/clip.ts";
import { readVideoScenario, type VideoJob } from "../shared/videos/stored-videos.ts";
import { xaiErrors, xaiNotFound } from "./errors.ts";

const path = "/xai/v1/videos";
const filesFolder = "/xai/vidgen";

/** A second of video in ticks of 1e-10 dollars. */
const secondTicks: { readonly [resolution: string]: number } = {
  "480p": 500_000_000,
  "720p": 700_000_000,
  "1080p": 2_500_000_000,
};

const fields = {
  model: isText,
  prompt: isText,
  duration: isInteger(1, 15),
  seconds: isAnything,
  input_reference: isTextOrRecord,
  aspect_ratio: isOneOf("1:1", "16:9", "9:16", "4:3", "3:4", "3:2", "2:3"),
  resolution: isOneOf("480p", "720p", "1080p"),
  image: isTextOrRecord,
  last_frame: isTextOrRecord,
  keyframes: isAnything,
  reference_images: isAnything,
  reference_audios: isAnything,
  generate_audio: isAnything,
  storage_options: isAnything,
  output: isAnything,
  user: isText,
};

const generationShape = record(values(fields), { required: ["model"] });
const change = { model: isText, prompt: isText, video: isTextOrRecord };
const editShape = record(values({ ...change, user: isText }), { required: ["model", "prompt", "video"] });
const extensionShape = record(values({ ...change, duration: isInteger(1, 10) }), {
  required: ["model", "prompt", "video"],
});

/** Sizes are requested by ratio and resolution. */
function refuseForeign(body: JsonObject): Problem | null {
  if (isGiven(body["image"]) && isGiven(body["reference_images"])) {
    return badValue("reference_images", "not together with image");
  }
  const field = ["size", "n"].find((name) => isGiven(body[name]));
  return field === undefined ? null : { kind: "unsupported", field, message: `Argument not supported: ${field}` };
}

const checkOf =
  (shape: Shape) =>
  (body: JsonObject): Problem | null =>
    refuseForeign(body) ?? shape(body, "");

const creation = (shape: Shape, secondsOf: (body: JsonObject) => number) => {
  const check = checkOf(shape);
  return (call: Call): Answer => {
    if (isFormType(call.headers["content-type"])) return errorAnswer(xaiErrors.forStatus(415));
    const answer = (body: JsonObject, model: string): Answer => start(call, body, { model, seconds: secondsOf(body) });
    return answerJson(call, { errors: xaiErrors, check, answer });
  };
};

function start(call: Call, body: JsonObject, { model, seconds }: { model: string; seconds: number }): Answer {
  const { videos } = call.kept;
  const id = call.identity.uuid(`video ${videos.next()}`);
  const prompt = stringOr(body["prompt"], "");
  const resolution = stringOr(body["resolution"], "480p");
  const account = bearerKey(call.headers) ?? "";
  videos.add({
    account,
    id,
    body: { model, resolution },
    createdAt: videos.clock.now,
    seconds,
    ...readVideoScenario(prompt),
  });
  return jsonAnswer({ request_id: id });
}

/** 202 until the job has ended; a failure is a success of HTTP. */
function poll(call: Call): Answer {
  const { videos } = call.kept;
  const id = call.parameters["id"] ?? "";
  const job = videos.get(bearerKey(call.headers) ?? "", id);
  if (job === undefined) return errorAnswer(xaiNotFound(`The video request ${id} does not exist.`));
  const { phase, progress } = videos.phaseOf(job);
  if (phase !== "ended") return { kind: "json", status: 202, body: { status: "pending", progress } };
  return jsonAnswer(ended(call, job));
}

function ended(call: Call, { id, body, seconds, end }: VideoJob): JsonObject {
  const usage = { cost_in_usd_ticks: (secondTicks[String(body["resolution"])] ?? 0) * seconds };
  const error = { code: "internal_error", message: "The video could not be generated." };
  switch (end) {
    case "failed":
      return { status: "failed", progress: 0, error };
    case "failed-billed":
      return { status: "failed", progress: 0, error, usage };
    case "expired":
      return { status: "expired", progress: 0 };
    case "blocked":
      return {
        status: "done",
        progress: 100,
        model: body["model"],
        video: { duration: seconds, respect_moderation: false },
        usage,
      };
    default: {
      const url = `http://${call.headers["host"] ?? "localhost"}${filesFolder}/${id}.mp4`;
      const video = { url, duration: seconds, respect_moderation: true };
      return { status: "done", progress: 100, model: body["model"], video, usage };
    }
  }
}

/** The route behind a video's address. */
function download(call: Call): Answer {
  const id = (call.parameters["file"] ?? "").replace(/\.mp4$/, "");
  return call.kept.videos.find(id) === undefined ? errorAnswer(xaiErrors.forStatus(404)) : clipAnswer(call);
}

const secondsOf = (body: JsonObject, fallback: number): number =>
  Number(body["duration"] ?? body["seconds"] ?? fallback);

/** xAI's video jobs: neither a list nor a deletion. */
export const videoRoutes: readonly Route[] = [
  { method: "POST", path: `${path}/generations`, handle: creation(generationShape, (body) => secondsOf(body, 8)) },
  { method: "POST", path: `${path}/edits`, handle: creation(editShape, () => 8) },
  { method: "POST", path: `${path}/extensions`, handle: creation(extensionShape, (body) => secondsOf(body, 6)) },
  { method: "GET", path: `${path}/:id`, handle: poll },
  { method: "GET", path: `${filesFolder}/:file`, open: true, errors: xaiErrors, handle: download },
];
