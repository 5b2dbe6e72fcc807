import { asObject, type JsonObject } from "../json.ts";
import type { KeptAnswer } from "../kept-answers.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer } from "../types.ts";
import type { ResponsesTalk, ResponsesWire } from "./wire.ts";

/** A response waits this long, and then runs this long. */
const queuedMs = 500;
const runningMs = 1_500;

/** Whether the request asks for a response that goes on after it, and is not read as a stream. */
export function isInBackground({ body }: ResponsesTalk, wire: ResponsesWire): boolean {
  return wire.background === true && body["background"] === true && body["stream"] !== true;
}

/** Keeps a response whose end is known, and answers with its beginning. */
export function startInBackground({ call, input }: ResponsesTalk, ended: JsonObject): Answer {
  const isEndless = JSON.stringify(input).includes("forever");
  const course = { createdAt: call.kept.videos.clock.now, isEndless };
  const kept: KeptAnswer = { body: { ...ended, background: true }, input, course };
  call.kept.keep(kept);
  return jsonAnswer(asItIs(kept, call));
}

/** The response at this moment. */
export function asItIs({ body, course }: KeptAnswer, { kept }: Call): JsonObject {
  if (course === undefined) return body;
  const open = { ...body, error: null, incomplete_details: null, output: [], usage: null, completed_at: null };
  if (course.isCancelled === true) return { ...open, status: "cancelled" };
  const age = kept.videos.clock.now - course.createdAt;
  if (age < queuedMs) return { ...open, status: "queued" };
  return course.isEndless || age < queuedMs + runningMs ? { ...open, status: "in_progress" } : body;
}

/** Cancels a response in the background; one that has ended stays as it is. */
export function cancel(call: Call, wire: ResponsesWire): Answer {
  const id = call.parameters["id"] ?? "";
  const found = call.kept.get(id);
  if (found === undefined) return errorAnswer(wire.notKept("response", id, "response_id"));
  const { course } = found;
  if (course === undefined) {
    const message = "Cannot cancel a synchronous response.";
    return errorAnswer(wire.errors.forProblem({ kind: "bad-value", field: "response_id", message, value: id }));
  }
  const before = asItIs(found, call);
  if (before["status"] !== "queued" && before["status"] !== "in_progress") return jsonAnswer(before);
  const cancelled = { ...found, course: { ...course, isCancelled: true } };
  call.kept.keep(cancelled);
  return jsonAnswer(asObject(asItIs(cancelled, call)));
}
