import type { Dialect, JsonObject } from "../../core/index.ts";
import type { Conversation, OutputFormat, Sampling, ToolChoice } from "./conversation.ts";
import type { FieldTable } from "./fields.ts";
import { member, readFlag, readNumber, readObject, readText, readWord } from "./read.ts";

type Reader<Value> = (value: unknown, at: string) => Value;

/** A field of a body by its path, `user` or `text.format`, and its reader. */
type Field<Value> = readonly [path: string, read: Reader<Value>];

const samplingFields = {
  temperature: "temperature",
  top_p: "topP",
  top_k: "topK",
  frequency_penalty: "frequencyPenalty",
  presence_penalty: "presencePenalty",
  seed: "seed",
} as const;

/** How the bodies of a dialect contain the members of a conversation. */
interface ConversationTable {
  dialect: Dialect;
  /** The support of the other fields, which are carried by name. */
  support: FieldTable;
  toolChoice: Reader<ToolChoice>;
  format: Field<OutputFormat>;
  sampling: readonly (keyof typeof samplingFields)[];
  stop?: Field<string[]>;
  serviceTier?: Reader<string | undefined>;
  verbosity?: Field<string>;
  user: Field<string>;
  /** The fields that `OwnMembers` are read from. */
  own: readonly string[];
}

/** The members that each dialect reads in its own way. */
type OwnMembers = Pick<Conversation, "turns"> & {
  [Name in "tools" | "parallelToolCalls" | "outputTokensMax" | "reasoning"]: () => Conversation[Name];
} & { [Name in "logprobs" | "cache"]?: () => Conversation[Name] };

/** A reader of a dialect's bodies. Of several invalid fields, the first in the order of `Conversation` is refused. */
export function conversationReader(table: ConversationTable): (body: JsonObject, own: OwnMembers) => Conversation {
  const { dialect, support, format, sampling, stop, serviceTier = readText, verbosity, user } = table;
  const paths = [format, stop, verbosity, user].flatMap((field) => field?.[0].split(".")[0] ?? []);
  const known = new Set([
    "model",
    "tools",
    "tool_choice",
    "service_tier",
    "stream",
    ...paths,
    ...sampling,
    ...table.own,
  ]);
  return (body, own) => ({
    model: readWord(body["model"], "model"),
    turns: own.turns,
    tools: own.tools(),
    toolChoice: member(body, "tool_choice", "", table.toolChoice),
    parallelToolCalls: own.parallelToolCalls(),
    format: readField(body, format),
    sampling: readSampling(body, sampling),
    stop: readField(body, stop) ?? [],
    outputTokensMax: own.outputTokensMax(),
    reasoning: own.reasoning(),
    logprobs: own.logprobs?.(),
    serviceTier: member(body, "service_tier", "", serviceTier),
    verbosity: readField(body, verbosity),
    user: readField(body, user),
    cache: own.cache?.(),
    stream: member(body, "stream", "", readFlag) ?? false,
    rest: { dialect, table: support, body, known },
  });
}

function readSampling(body: JsonObject, names: ConversationTable["sampling"]): Sampling {
  const sampling: Sampling = {};
  for (const name of names) sampling[samplingFields[name]] = member(body, name, "", readNumber);
  return sampling;
}

function readField<Value>(body: JsonObject, field: Field<Value> | undefined): Value | undefined {
  if (field === undefined) return undefined;
  const [path, read] = field;
  const [outer = path, inner] = path.split(".");
  if (inner === undefined) return member(body, path, "", read);
  return member(member(body, outer, "", readObject) ?? {}, inner, outer, read);
}
