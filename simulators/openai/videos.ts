import { badValue, isAnything, isLike, isOneOf, isText, type Problem } from "../shared/check.ts";
import { formBody } from "../shared/form.ts";
import { bearerKey } from "../shared/http.ts";
import { asObject, isObject, type JsonObject, stringOr } from "../shared/json.ts";
import { isFormType } from "../shared/multipart.ts";
import { record, values } from "../shared/shape.ts";
import { type Answer, type Call, errorAnswer, isMissingModel, jsonAnswer, type Route } from "../shared/types.ts";
import { clipAnswer } from "../shared/videos/clip.ts";
import { readVideoScenario, type VideoJob } from "../shared/videos/stored-videos.ts";
import { openaiErrors, openaiFormRefusal, openaiRefusal } from "./errors.ts";

const path = "/openai/v1/videos";
const modelDefault = "sora-2";
/** A video can be downloaded for an hour. */
const linkMs = 3_600_000;
const listMax = 100;

const fields = values({
  model: isText,
  prompt: isText,
  seconds: isLike(/^(?:4|8|12|16|20)$/, "one of 4, 8, 12, 16, 20, as a string"),
  size: isOneOf("720x1280", "1280x720", "1024x1792", "1792x1024"),
  input_reference: isAnything,
  video: isAnything,
});

const generationShape = record(fields, { required: ["prompt"] });
const changeShape = record(fields, { required: ["prompt", "video"] });

type Prepared = { readonly body: JsonObject } | { readonly refused: Answer };

function prepare(call: Call, shape: typeof generationShape): Prepared {
  const isForm = isFormType(call.headers["content-type"]);
  if (isForm && call.form === null) return { refused: errorAnswer(openaiFormRefusal()) };
  const body = isForm ? formBody(call.form ?? [], { input_reference: "json", video: "json" }) : call.body;
  if (!isObject(body)) return { refused: problem({ kind: "not-json" }) };
  const wrong = shape(body, "");
  return wrong === null ? { body } : { refused: problem(wrong) };
}

const problem = (wrong: Problem): Answer => errorAnswer(openaiErrors.forProblem(wrong));

const accountOf = (call: Call): string => bearerKey(call.headers) ?? "";

function create(call: Call): Answer {
  const prepared = prepare(call, generationShape);
  return "refused" in prepared ? prepared.refused : start(call, prepared.body, { seconds: 4, source: undefined });
}

interface Start {
  /** The length, unless the request has one. */
  seconds: number;
  source: VideoJob | undefined;
}

function start(call: Call, body: JsonObject, { seconds: fallback, source }: Start): Answer {
  const model = stringOr(body["model"], stringOr(source?.body["model"], modelDefault));
  if (isMissingModel(model)) return errorAnswer(openaiErrors.modelNotFound(model));
  const { videos } = call.kept;
  const id = `video_${call.identity.hex(`video ${videos.next()}`, 48)}`;
  const prompt = stringOr(body["prompt"], "");
  const seconds = Number(body["seconds"] ?? fallback);
  const size = stringOr(body["size"], stringOr(source?.body["size"], "720x1280"));
  const told = { id, object: "video", model, prompt, size, remixed_from_video_id: source?.id ?? null };
  const job = {
    account: accountOf(call),
    id,
    body: told,
    createdAt: videos.clock.now,
    seconds,
    ...readVideoScenario(prompt),
  };
  videos.add(job);
  return jsonAnswer(videoBody(call, job));
}

const secondsOf = (milliseconds: number): number => Math.floor(milliseconds / 1_000);

/** All members exist; those without a value are null. */
function videoBody({ kept: { videos } }: Call, job: VideoJob): JsonObject {
  const { phase, progress, endedAt } = videos.phaseOf(job);
  const isDone = phase === "ended" && job.end === "completed";
  const isFailed = phase === "ended" && job.end !== "completed";
  return {
    ...job.body,
    status: isDone ? "completed" : isFailed ? "failed" : phase === "queued" ? "queued" : "in_progress",
    progress,
    created_at: secondsOf(job.createdAt),
    completed_at: isDone ? secondsOf(endedAt) : null,
    expires_at: isDone ? secondsOf(endedAt + linkMs) : null,
    seconds: String(job.seconds),
    error: isFailed ? failure(job) : null,
  };
}

function failure({ end }: VideoJob): JsonObject {
  if (end === "blocked")
    return { code: "moderation_blocked", message: "The request was blocked by our moderation system." };
  return { code: "video_generation_failed", message: "Video generation failed." };
}

const missing = (id: string): Answer => errorAnswer(openaiRefusal(`Video with id '${id}' not found.`, null, null, 404));

/** A route about one job of the key. */
const withJob =
  (handle: (call: Call, job: VideoJob) => Answer) =>
  (call: Call): Answer => {
    const id = call.parameters["id"] ?? "";
    const job = call.kept.videos.get(accountOf(call), id);
    return job === undefined ? missing(id) : handle(call, job);
  };

/** A change of an earlier video, or of an uploaded one. An extension's length is that of the whole. */
const change =
  (isExtension: boolean) =>
  (call: Call): Answer => {
    const prepared = prepare(call, changeShape);
    if ("refused" in prepared) return prepared.refused;
    const { body } = prepared;
    const { id } = asObject(body["video"]);
    const source = typeof id === "string" ? call.kept.videos.get(accountOf(call), id) : undefined;
    if (typeof id === "string" && source === undefined) return missing(id);
    const before = source?.seconds ?? 4;
    const seconds = isExtension ? before + Number(body["seconds"] ?? 4) : before;
    return start(call, { ...body, seconds: String(seconds) }, { seconds, source });
  };

function remix(call: Call, source: VideoJob): Answer {
  const prepared = prepare(call, record(fields, { required: ["prompt"] }));
  return "refused" in prepared ? prepared.refused : start(call, prepared.body, { seconds: source.seconds, source });
}

function list(call: Call): Answer {
  const { query } = call;
  const limit = Number(query.get("limit") ?? 20);
  if (!Number.isInteger(limit) || limit < 0 || limit > listMax) return problem(badValue("limit", "expected 0 to 100"));
  const jobs = call.kept.videos.all(accountOf(call));
  const ordered = query.get("order") === "asc" ? jobs : jobs.toReversed();
  const after = query.get("after");
  const from = after === null ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== null && from === 0) return missing(after);
  const data = ordered.slice(from, from + limit).map((job) => videoBody(call, job));
  return jsonAnswer({
    object: "list",
    data,
    first_id: data[0]?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: from + limit < ordered.length,
  });
}

function remove(call: Call, job: VideoJob): Answer {
  if (call.kept.videos.phaseOf(job).phase !== "ended") {
    return errorAnswer(openaiRefusal("Only videos that are completed or failed can be deleted.", null, null));
  }
  call.kept.videos.delete(job.id);
  return jsonAnswer({ id: job.id, object: "video.deleted", deleted: true });
}

function content(call: Call, job: VideoJob): Answer {
  const { videos } = call.kept;
  const { phase, endedAt } = videos.phaseOf(job);
  if (phase !== "ended" || job.end !== "completed") {
    return errorAnswer(
      openaiRefusal("Video is not ready yet, use GET /v1/videos/{video_id} to check status.", null, null, 404),
    );
  }
  if (videos.clock.now > endedAt + linkMs) return errorAnswer(openaiRefusal("The video has expired.", null, null, 404));
  return clipAnswer(call);
}

/** OpenAI's video jobs. */
export const videoRoutes: readonly Route[] = [
  { method: "POST", path, handle: create },
  { method: "POST", path: `${path}/edits`, handle: change(false) },
  { method: "POST", path: `${path}/extensions`, handle: change(true) },
  { method: "POST", path: `${path}/:id/remix`, handle: withJob(remix) },
  { method: "GET", path, handle: list },
  { method: "GET", path: `${path}/:id`, handle: withJob((call, job) => jsonAnswer(videoBody(call, job))) },
  { method: "DELETE", path: `${path}/:id`, handle: withJob(remove) },
  { method: "GET", path: `${path}/:id/content`, handle: withJob(content) },
];
