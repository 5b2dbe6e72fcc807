import { type JsonObject, stringOf } from "../../../core/index.ts";
import type { AnswerBlock, Citation } from "../../conversation/index.ts";
import { endItem, itemId, type ItemStatus, summaryPart } from "./output-items.ts";

/** The emitted part of the open block. */
export interface OpenBlock {
  block: AnswerBlock;
  /** The block's position in the stream, as members of its events. */
  place: string;
  text: string;
  citations: Citation[];
  logprobs: JsonObject[];
  /** Of a thought: the summaries, and the upstream's number of the last one. */
  summaries: string[];
  summary: number | undefined;
}

/** An item that has been announced and not ended. */
interface OpenItem {
  id: string;
  /** The parts of a message so far; undefined for any other item. */
  content: JsonObject[] | undefined;
  /** The item's final form. */
  whole: JsonObject;
}

/** The events of items of tools between their announcement and their end, by their types. */
const hostedEvents: ReadonlyMap<unknown, { begun: readonly string[]; done: string }> = new Map([
  [
    "web_search_call",
    {
      begun: ["web_search_call.in_progress", "web_search_call.searching"],
      done: "web_search_call.completed",
    },
  ],
  [
    "file_search_call",
    { begun: ["file_search_call.in_progress", "file_search_call.searching"], done: "file_search_call.completed" },
  ],
  ["code_interpreter_call", { begun: ["code_interpreter_call.in_progress"], done: "code_interpreter_call.completed" }],
  [
    "image_generation_call",
    {
      begun: ["image_generation_call.in_progress", "image_generation_call.generating"],
      done: "image_generation_call.completed",
    },
  ],
  ["mcp_list_tools", { begun: ["mcp_list_tools.in_progress"], done: "mcp_list_tools.completed" }],
  ["mcp_call", { begun: ["mcp_call.in_progress"], done: "mcp_call.completed" }],
]);

function withoutCode({ code }: JsonObject): JsonObject {
  return typeof code === "string" ? { code: "" } : {};
}

/** The events of the items of a response, in their order. */
export class OutputWriter {
  readonly #callId: string;
  #sequence = 0;
  /** Items that have ended, as JSON text. */
  readonly items: string[] = [];
  item: OpenItem | undefined;

  constructor(callId: string) {
    this.#callId = callId;
  }

  /** An event, from its members as JSON text. */
  event(type: string, members: string): string {
    const number = this.#sequence;
    this.#sequence += 1;
    return `event: ${type}\ndata: {"type":"${type}","sequence_number":${number},${members}}\n\n`;
  }

  delta(type: string, { place }: OpenBlock, text: string): string {
    return this.event(type, `${place},"delta":${JSON.stringify(text)}`);
  }

  /** A part of the content of the block at this place. */
  part(type: string, place: string | undefined, part: JsonObject): string {
    return this.event(type, `${place},"part":${JSON.stringify(part)}`);
  }

  open(added: JsonObject, whole: JsonObject, content?: JsonObject[]): string {
    this.item = { id: stringOf(added["id"]), content, whole };
    return this.event(
      "response.output_item.added",
      `"output_index":${this.items.length},"item":${JSON.stringify(added)}`,
    );
  }

  /** An item of a tool that runs now, with the events that say so; another item is only announced. */
  openHosted(value: JsonObject): string {
    const events = value["status"] === "in_progress" ? hostedEvents.get(value["type"]) : undefined;
    if (events === undefined) return this.open(value, value);
    const { arguments: text, status, ...rest } = value;
    // A list of tools has no status.
    const added = value["type"] === "mcp_list_tools" ? rest : { ...rest, status };
    const shown = this.open(
      { ...added, ...(typeof text === "string" && { arguments: "" }), ...withoutCode(added) },
      value,
    );
    const begun = events.begun.map((name) => this.#hostedEvent(name)).join("");
    return shown + begun + this.#argumentEvents(text) + this.#codeEvents(value["code"]);
  }

  /** The code of a run is known when it begins. */
  #codeEvents(code: unknown): string {
    if (typeof code !== "string" || code === "") return "";
    const written = JSON.stringify(code);
    return (
      this.#hostedEvent("code_interpreter_call_code.delta", `,"delta":${written}`) +
      this.#hostedEvent("code_interpreter_call_code.done", `,"code":${written}`) +
      this.#hostedEvent("code_interpreter_call.interpreting")
    );
  }

  /** The arguments of a call are known when it begins. */
  #argumentEvents(text: unknown): string {
    if (typeof text !== "string") return "";
    const written = JSON.stringify(text);
    return (
      this.#hostedEvent("mcp_call_arguments.delta", `,"delta":${written}`) +
      this.#hostedEvent("mcp_call_arguments.done", `,"arguments":${written}`)
    );
  }

  /** The whole of the item that `openHosted` has announced as in progress. */
  completeHosted(value: JsonObject): string {
    const { item } = this;
    if (item === undefined) return "";
    const done = hostedEvents.get(value["type"])?.done;
    const isFailed = value["status"] === "failed" && value["type"] === "mcp_call";
    // An upstream's own item has no code before it ends.
    const code = item.whole["code"] === "" ? this.#codeEvents(value["code"]) : "";
    const shown = done === undefined ? "" : code + this.#hostedEvent(isFailed ? "mcp_call.failed" : done);
    item.whole = value;
    return shown + this.endItem("completed");
  }

  #hostedEvent(name: string, more = ""): string {
    const id = JSON.stringify(this.item?.id ?? "");
    return this.event(`response.${name}`, `"item_id":${id},"output_index":${this.items.length}${more}`);
  }

  endItem(status: ItemStatus): string {
    const item = this.item;
    if (item === undefined) return "";
    this.item = undefined;
    const whole = JSON.stringify(endItem(item.whole, status));
    const done = this.event("response.output_item.done", `"output_index":${this.items.length},"item":${whole}`);
    this.items.push(whole);
    return done;
  }

  newId(prefix: Parameters<typeof itemId>[0]): string {
    return itemId(prefix, this.#callId, this.items.length);
  }
}

/** `summary` is -1 for the thought itself, which becomes a separate summary. */
export function writeThought(output: OutputWriter, open: OpenBlock, text: string, summary: number): string {
  let shown = "";
  if (open.summary !== summary) {
    shown = endSummary(output, open);
    open.summary = summary;
    open.text = "";
    shown += output.event(
      "response.reasoning_summary_part.added",
      `${summaryPlace(open)},"part":${JSON.stringify(summaryPart(""))}`,
    );
  }
  open.text += text;
  return (
    shown +
    output.event("response.reasoning_summary_text.delta", `${summaryPlace(open)},"delta":${JSON.stringify(text)}`)
  );
}

export function endSummary(output: OutputWriter, open: OpenBlock): string {
  if (open.summary === undefined) return "";
  const { text } = open;
  const place = summaryPlace(open);
  open.summaries.push(text);
  open.summary = undefined;
  return (
    output.event("response.reasoning_summary_text.done", `${place},"text":${JSON.stringify(text)}`) +
    output.event("response.reasoning_summary_part.done", `${place},"part":${JSON.stringify(summaryPart(text))}`)
  );
}

function summaryPlace({ place, summaries }: OpenBlock): string {
  return `${place},"summary_index":${summaries.length}`;
}
