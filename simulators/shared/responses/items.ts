import { asArray, asObject, type JsonObject } from "../json.ts";
import { tokenLogprobs } from "../logprobs.ts";
import { numberOr } from "../prompt.ts";
import { argumentPieces, type ToolCall } from "../tool-calls.ts";
import { textPieces } from "../words.ts";
import type { ResponsesTalk, ResponsesWire } from "./wire.ts";

/** An event of a stream, before it is numbered. */
export type Event = { readonly type: string; readonly [member: string]: unknown };

/** An output item, and its events in a stream between its beginning and its end. */
export interface OutputItem {
  readonly whole: JsonObject;
  readonly started: JsonObject;
  /** Without `output_index`. */
  readonly events: readonly Event[];
}

/** The items of a response: reasoning, then text, then calls. */
export function outputItems(talk: ResponsesTalk, wire: ResponsesWire): OutputItem[] {
  const { turn } = talk;
  const last = asObject(asArray(talk.body["input"]).at(-1));
  if (wire.compacts === true && last["type"] === "compaction_trigger") return [compactionItem(talk, wire)];
  const reasoning = turn.reasoning === "" ? [] : [reasoningItem(talk, wire)];
  if (turn.refusal !== null) {
    return wire.refusal === "part" ? [...reasoning, refusalItem(turn.refusal.text, talk, wire)] : reasoning;
  }
  const silent = turn.toolCalls.length > 0 && turn.text === "";
  const spoken = silent ? [] : [messageItem(talk, wire)];
  return [...reasoning, ...spoken, ...turn.toolCalls.map((call, index) => callItem(call, index, talk, wire))];
}

/** The conversation in a form that only its maker reads. */
function compactionItem({ call, input }: ResponsesTalk, wire: ResponsesWire): OutputItem {
  const id = wire.itemId("cmp", "compaction", call.identity);
  const whole = { id, type: "compaction", encrypted_content: wire.seal.close({ items: input.length }) };
  return { whole, started: whole, events: [] };
}

/** Reasoning: summarized or in full, and sealed if the caller wants to return it. */
function reasoningItem({ call, body, turn }: ResponsesTalk, wire: ResponsesWire): OutputItem {
  const id = wire.itemId("rs", "reasoning", call.identity);
  const shown = wire.reasoningShown(body);
  const sealed = asArray(body["include"]).includes("reasoning.encrypted_content");
  const started = { id, type: "reasoning", status: "in_progress", summary: [] };
  const whole = {
    ...started,
    status: "completed",
    ...(shown === "summary" ? { summary: [{ type: "summary_text", text: turn.reasoning }] } : {}),
    ...(shown === "text" ? { content: [{ type: "reasoning_text", text: turn.reasoning }] } : {}),
    ...(sealed ? { encrypted_content: wire.seal.close(turn.reasoning) } : {}),
  };
  if (shown === "hidden") return { whole, started, events: [] };
  return {
    whole,
    started,
    events: shown === "summary" ? summaryEvents(id, turn.reasoning) : thoughtEvents(id, turn.reasoning),
  };
}

function summaryEvents(item_id: string, text: string): Event[] {
  const place = { item_id, summary_index: 0 };
  return [
    { type: "response.reasoning_summary_part.added", ...place, part: summaryPart("") },
    ...textPieces(text).map((delta) => ({ type: "response.reasoning_summary_text.delta", ...place, delta })),
    { type: "response.reasoning_summary_text.done", ...place, text },
    { type: "response.reasoning_summary_part.done", ...place, part: summaryPart(text) },
  ];
}

function summaryPart(text: string): JsonObject {
  return { type: "summary_text", text };
}

function thoughtEvents(item_id: string, text: string): Event[] {
  return partEvents(item_id, { type: "reasoning_text", text: "" }, { type: "reasoning_text", text }, [
    ...textPieces(text).map((delta) => ({ type: "response.reasoning_text.delta", delta })),
    { type: "response.reasoning_text.done", text },
  ]);
}

/** The events of a content part between its announcement and its end. */
function partEvents(item_id: string, empty: JsonObject, whole: JsonObject, inside: readonly Event[]): Event[] {
  const place = { item_id, content_index: 0 };
  return [
    { type: "response.content_part.added", ...place, part: empty },
    ...inside.map((event) => ({ ...event, ...place })),
    { type: "response.content_part.done", ...place, part: whole },
  ];
}

function messageItem({ call, body, turn }: ResponsesTalk, wire: ResponsesWire): OutputItem {
  const id = wire.itemId("msg", "message", call.identity);
  const likely = (text: string): JsonObject => (wire.logprobs ? { logprobs: logprobsOf(text, body) } : {});
  const part = (text: string): JsonObject => ({ type: "output_text", text, annotations: [], ...likely(text) });
  const events = [
    ...textPieces(turn.text).map((delta) => ({ type: "response.output_text.delta", delta, ...likely(delta) })),
    { type: "response.output_text.done", text: turn.text, ...likely(turn.text) },
  ];
  const status = turn.finish === "length" ? "incomplete" : "completed";
  return message({ id, status }, part(""), part(turn.text), events);
}

function logprobsOf(text: string, body: JsonObject): JsonObject[] {
  const wanted = asArray(body["include"]).includes("message.output_text.logprobs");
  return wanted ? tokenLogprobs(text, numberOr(body["top_logprobs"], 0)) : [];
}

function refusalItem(refusal: string, { call }: ResponsesTalk, wire: ResponsesWire): OutputItem {
  const id = wire.itemId("msg", "message", call.identity);
  const events = [
    ...textPieces(refusal).map((delta) => ({ type: "response.refusal.delta", delta })),
    { type: "response.refusal.done", refusal },
  ];
  return message({ id, status: "completed" }, { type: "refusal", refusal: "" }, { type: "refusal", refusal }, events);
}

function message(
  { id, status }: { id: string; status: string },
  empty: JsonObject,
  part: JsonObject,
  inside: readonly Event[],
): OutputItem {
  const head = { id, type: "message", role: "assistant" };
  return {
    whole: { ...head, status, content: [part] },
    started: { ...head, status: "in_progress", content: [] },
    events: partEvents(id, empty, part, inside),
  };
}

function callItem(call: ToolCall, index: number, talk: ResponsesTalk, wire: ResponsesWire): OutputItem {
  if (call.custom) return customCallItem(call, index, talk, wire);
  const item_id = wire.itemId("fc", `call ${index}`, talk.call.identity);
  const head = { id: item_id, type: "function_call", call_id: wire.callId(call), ...nameOf(call) };
  const cut = talk.turn.finish === "length" && index === talk.turn.toolCalls.length - 1;
  const pieces = wire.argumentFragments ? argumentPieces(call) : [call.arguments];
  const named = wire.namedArguments ? { name: call.name } : {};
  return {
    whole: { ...head, arguments: call.arguments, status: cut ? "incomplete" : "completed" },
    started: { ...head, arguments: "", status: "in_progress" },
    events: [
      ...pieces.map((delta) => ({ type: "response.function_call_arguments.delta", item_id, delta })),
      { type: "response.function_call_arguments.done", item_id, ...named, arguments: call.arguments },
    ],
  };
}

function customCallItem(call: ToolCall, index: number, talk: ResponsesTalk, wire: ResponsesWire): OutputItem {
  const item_id = wire.itemId("ctc", `call ${index}`, talk.call.identity);
  const head = { id: item_id, type: "custom_tool_call", call_id: wire.callId(call), ...nameOf(call) };
  return {
    whole: { ...head, input: call.arguments, status: "completed" },
    started: { ...head, input: "", status: "in_progress" },
    events: [
      ...argumentPieces(call).map((delta) => ({ type: "response.custom_tool_call_input.delta", item_id, delta })),
      { type: "response.custom_tool_call_input.done", item_id, input: call.arguments },
    ],
  };
}

function nameOf({ name, namespace }: ToolCall): JsonObject {
  return namespace === undefined ? { name } : { name, namespace };
}
