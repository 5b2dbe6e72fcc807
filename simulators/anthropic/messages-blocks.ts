import type { Turn } from "../shared/answer.ts";
import { asObject, type JsonObject, parseJson } from "../shared/json.ts";
import type { Scenario } from "../shared/scenario.ts";
import { argumentPieces, type ToolCall } from "../shared/tool-calls.ts";
import { textPieces } from "../shared/words.ts";
import { citationsOf } from "./citations.ts";
import { thinkingBlock } from "./thinking.ts";

/** A content block of an answer and the deltas that bring it, piece by piece, into the empty one. */
export interface AnswerBlock {
  readonly whole: JsonObject;
  readonly empty: JsonObject;
  readonly deltas: readonly JsonObject[];
}

/** The content of an answer: thinking, text, calls. A refusal has none; its explanation is in the stop details. */
export function answerBlocks(turn: Turn, body: JsonObject, scenario: Scenario): AnswerBlock[] {
  return [
    ...(turn.reasoning === "" ? [] : [thoughtBlock(turn, body, scenario)]),
    ...(turn.text === "" ? [] : [textBlock(turn.text, body)]),
    ...turn.toolCalls.map(toolBlock),
  ];
}

function thoughtBlock({ reasoning }: Turn, body: JsonObject, { redacted }: Scenario): AnswerBlock {
  const omitted = asObject(body["thinking"])["display"] === "omitted";
  const whole = thinkingBlock(reasoning, { redacted, omitted });
  if (redacted) return { whole, empty: whole, deltas: [] };
  const thoughts = textPieces(omitted ? "" : reasoning).map((thinking) => ({ type: "thinking_delta", thinking }));
  const signed = { type: "signature_delta", signature: whole["signature"] };
  return { whole, empty: { ...whole, thinking: "", signature: "" }, deltas: [...thoughts, signed] };
}

function textBlock(text: string, body: JsonObject): AnswerBlock {
  const citations = citationsOf(body);
  const cited = citations.length > 0;
  return {
    whole: { type: "text", text, ...(cited ? { citations } : {}) },
    empty: { type: "text", text: "", ...(cited ? { citations: [] } : {}) },
    deltas: [
      ...citations.map((citation) => ({ type: "citations_delta", citation })),
      ...textPieces(text).map((piece) => ({ type: "text_delta", text: piece })),
    ],
  };
}

/** The input is an object; a truncated one is dropped. */
function toolBlock(call: ToolCall): AnswerBlock {
  const head = { type: "tool_use", id: `toolu_${call.label}`, name: call.name, caller: { type: "direct" } };
  const pieces = call.arguments === "{}" ? [""] : ["", ...argumentPieces(call)];
  return {
    whole: { ...head, input: asObject(parseJson(call.arguments)) },
    empty: { ...head, input: {} },
    deltas: pieces.map((piece) => ({ type: "input_json_delta", partial_json: piece })),
  };
}
