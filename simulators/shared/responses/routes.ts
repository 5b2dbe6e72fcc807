import { asObject, type JsonObject } from "../json.ts";
import { doneFrame, type Frame, namedFrame } from "../sse.ts";
import { type Answer, type Call, errorAnswer, jsonAnswer, type Route } from "../types.ts";
import { asItIs, cancel, isInBackground, startInBackground } from "./background.ts";
import { type Event, type OutputItem, outputItems } from "./items.ts";
import { startTalk } from "./talk.ts";
import type { ResponsesTalk, ResponsesWire } from "./wire.ts";

/** The routes of one provider's responses. */
export function responsesRoutes(basePath: string, wire: ResponsesWire, hasInputItems: boolean): Route[] {
  const { errors } = wire;
  const path = `${basePath}/responses`;
  const one = `${path}/:id`;
  const kept: Route[] = [
    { method: "POST", path, errors, handle: (call) => create(call, wire) },
    { method: "GET", path: one, errors, handle: (call) => retrieve(call, wire) },
    { method: "DELETE", path: one, errors, handle: (call) => remove(call, wire) },
    ...(wire.background === true
      ? [{ method: "POST" as const, path: `${one}/cancel`, errors, handle: (call: Call) => cancel(call, wire) }]
      : []),
  ];
  if (!hasInputItems) return kept;
  return [...kept, { method: "GET", path: `${one}/input_items`, errors, handle: (call) => listInput(call, wire) }];
}

function create(call: Call, wire: ResponsesWire): Answer {
  const talk = startTalk(call, wire);
  if ("kind" in talk) return talk;
  if (talk.body["stream"] === true) return { kind: "stream", frames: eventFrames(talk, wire) };
  const response = finish(talk, wire, outputItems(talk, wire));
  return isInBackground(talk, wire) ? startInBackground(talk, response) : jsonAnswer(response);
}

/** The finished response, kept unless the caller wants it forgotten. */
function finish(talk: ResponsesTalk, wire: ResponsesWire, items: readonly OutputItem[]): JsonObject {
  const { call, body, answer, input } = talk;
  const failed = call.faults.failed;
  const ended = ending(talk, wire);
  const response = {
    ...head(talk, wire, ended["status"] === "completed"),
    ...ended,
    output: failed ? [] : items.map(({ whole }) => whole),
    usage: failed || call.faults.noUsage ? null : wire.usage(answer.tokens, talk),
  };
  // A huge answer is a fault of its delivery, and a thousand of them would not fit into memory.
  if (body["store"] !== false && call.faults.hugeMebibytes === 0) call.kept.keep({ body: response, input });
  return response;
}

function head(talk: ResponsesTalk, wire: ResponsesWire, completed: boolean): JsonObject {
  const { identity } = talk.call;
  return {
    id: wire.responseId(identity),
    object: "response",
    created_at: identity.created,
    model: talk.body["model"],
    ...wire.members(talk, completed),
  };
}

function ending({ call, turn }: ResponsesTalk, wire: ResponsesWire): JsonObject {
  const plain = { status: "completed", error: null, incomplete_details: null };
  if (call.faults.failed) {
    const error = { code: "server_error", message: "The model failed to generate a response." };
    return { ...plain, status: "failed", error };
  }
  if (turn.finish === "length") return incomplete({ reason: "max_output_tokens" });
  if (turn.finish !== "refusal" || wire.refusal === "part") return plain;
  return incomplete({ reason: "content_filter", ...wire.filterDetails?.(turn) });
}

function incomplete(incomplete_details: JsonObject): JsonObject {
  return { status: "incomplete", error: null, incomplete_details };
}

function* eventFrames(talk: ResponsesTalk, wire: ResponsesWire): Generator<Frame> {
  let sequence_number = 0;
  for (const event of events(talk, wire)) {
    yield namedFrame({ ...padded(event, sequence_number, talk, wire), sequence_number });
    sequence_number += 1;
  }
  if (wire.doneFrame) yield doneFrame;
}

function* events(talk: ResponsesTalk, wire: ResponsesWire): Generator<Event> {
  const open = { status: "in_progress", error: null, incomplete_details: null, output: [], usage: null };
  const started = { ...head(talk, wire, false), ...open };
  const items = outputItems(talk, wire);
  yield { type: "response.created", response: started };
  yield { type: "response.in_progress", response: started };
  if (!talk.call.faults.failed) for (const [index, item] of items.entries()) yield* itemEvents(item, index);
  const response = finish(talk, wire, items);
  yield { type: `response.${String(response["status"])}`, response };
}

function* itemEvents({ started, whole, events: inside }: OutputItem, output_index: number): Generator<Event> {
  yield { type: "response.output_item.added", output_index, item: started };
  for (const event of inside) yield { ...event, output_index };
  yield { type: "response.output_item.done", output_index, item: whole };
}

/** Padding of changing length on every delta, on unless `include_obfuscation` is false. */
function padded(event: Event, place: number, { call, body }: ResponsesTalk, wire: ResponsesWire): Event {
  const wanted = wire.obfuscation && asObject(body["stream_options"])["include_obfuscation"] !== false;
  if (!wanted || !event.type.endsWith(".delta")) return event;
  const length = 1 + call.identity.number(`padding ${place}`, 12);
  return { ...event, obfuscation: call.identity.token(`obfuscation ${place}`, length) };
}

function idOf(call: Call): string {
  return call.parameters["id"] ?? "";
}

function retrieve(call: Call, wire: ResponsesWire): Answer {
  const found = call.kept.get(idOf(call));
  if (found === undefined) return errorAnswer(wire.notKept("response", idOf(call), "response_id"));
  const body = asItIs(found, call);
  return jsonAnswer(wire.retrieved?.(body) ?? body);
}

function remove(call: Call, wire: ResponsesWire): Answer {
  const id = idOf(call);
  if (call.kept.get(id) === undefined) return errorAnswer(wire.notKept("response", id, "response_id"));
  call.kept.delete(id);
  return jsonAnswer({ id, object: "response", deleted: true });
}

const pageSizeDefault = 20;
const pageSizeMax = 100;

/** One page of the items that went in, newest first unless asked otherwise. */
function listInput(call: Call, wire: ResponsesWire): Answer {
  const found = call.kept.get(idOf(call));
  if (found === undefined) return errorAnswer(wire.notKept("response", idOf(call), "response_id"));
  const limit = Number(call.query.get("limit") ?? pageSizeDefault);
  if (!Number.isInteger(limit) || limit < 1 || limit > pageSizeMax) {
    const expected = `an integer from 1 to ${pageSizeMax}`;
    return errorAnswer(wire.errors.forProblem({ kind: "wrong-type", field: "limit", expected, value: limit }));
  }
  const items = call.query.get("order") === "asc" ? found.input : found.input.toReversed();
  const after = call.query.get("after");
  const start = after === null ? 0 : items.findIndex((item) => item["id"] === after) + 1;
  const data = items.slice(start, start + limit);
  const [first] = data;
  return jsonAnswer({
    object: "list",
    data,
    first_id: first?.["id"] ?? null,
    last_id: data.at(-1)?.["id"] ?? null,
    has_more: start + data.length < items.length,
  });
}
