import type { JsonObject } from "../../../core/index.ts";
import type { Answer, AnswerBlock, ClientContext } from "../../conversation/index.ts";
import { writeOutputText, writeRefusal } from "../requests/write-parts.ts";
import {
  argumentsOf,
  callItem,
  callSignatureItem,
  endItem,
  imageItem,
  itemId,
  messageItem,
  reasoningItem,
  textOfImage,
} from "./output-items.ts";
import { ResponseWriter } from "./response-object.ts";
import { writeResponseEnd } from "./stop-reasons.ts";
import { writeUsage } from "./usage.ts";

/** A whole answer as a response; of several choices, the first. */
export function writeResponsesAnswer(answer: Answer, client: ClientContext): string {
  const { blocks = [], stop = { reason: "end" } as const } = answer.choices[0] ?? {};
  const { status, incompleteDetails } = writeResponseEnd(stop.reason);
  const items = writeOutput(blocks, client.callId);
  const last = items.length - 1;
  return new ResponseWriter(client, answer.model, answer.created).write({
    status,
    incompleteDetails,
    output: items.map((item, index) => JSON.stringify(index === last ? endItem(item, status) : item)),
    usage: writeUsage(answer.usage ?? {}),
    serviceTier: answer.serviceTier,
  });
}

function writeOutput(blocks: readonly AnswerBlock[], callId: string): JsonObject[] {
  const items: JsonObject[] = [];
  let message: { id: string; content: JsonObject[] } | undefined;
  for (const each of blocks) {
    const block = each.kind === "image" && each.source.kind !== "base64" ? textOfImage(each) : each;
    if (block.kind === "text" || block.kind === "refusal") {
      if (message === undefined || (block.id !== undefined && block.id !== message.id)) {
        message = { id: block.id ?? itemId("msg", callId, items.length), content: [] };
        items.push(messageItem(message.id, "completed", message.content));
      }
      message.content.push(block.kind === "text" ? writeOutputText(block) : writeRefusal(block.text));
    } else if (block.kind !== "native" || block.dialect === "responses") {
      message = undefined;
      addItem(items, block, callId);
    }
  }
  return items;
}

function addItem(items: JsonObject[], block: Exclude<AnswerBlock, { kind: "text" | "refusal" }>, callId: string): void {
  switch (block.kind) {
    case "reasoning": {
      const { text, summary = [], id = itemId("rs", callId, items.length) } = block;
      items.push(reasoningItem(block, id, text === "" ? summary : [text, ...summary]));
      return;
    }
    case "tool-call": {
      const carried = callSignatureItem(block, itemId("rs", callId, items.length));
      if (carried !== undefined) items.push(carried);
      const id = block.id ?? itemId(block.custom === true ? "ctc" : "fc", callId, items.length);
      items.push(callItem(block, id, "completed", argumentsOf(block.arguments, block.custom)));
      return;
    }
    case "image":
      if (block.source.kind === "base64")
        items.push(imageItem(block, block.source.data, itemId("ig", callId, items.length)));
      return;
    case "native":
      items.push(block.value);
  }
}
