/** The order of events in streams, as pairs of neighbours: those of makers' recordings, and of a stream that is compared with them. */
import { type JsonObject, objectOf, objectsOf, stringOf } from "../../src/core/index.ts";
import { bytesOf, recordings } from "../recordings/recordings.ts";
import { dataOf, isEmpty, parse } from "../recordings/said.ts";

export type StreamedDialect = "chat" | "messages" | "responses";

/** The makers whose streams are the rule; those of chat with searches are of several. */
const makers: Readonly<Record<StreamedDialect, string | undefined>> = {
  chat: undefined,
  messages: "anthropic",
  responses: "openai",
};

/**
 * Pairs of neighbouring events, as `one > other`; a stream begins with `begin` and ends with `end`. Which item or block follows which is
 * up to the model.
 */
export function pairsIn(dialect: StreamedDialect, text: string): string[] {
  const names = ["begin", ...namesIn[dialect](dataIn(text)), "end"];
  return names.slice(1).map((name, index) => pairOf(names[index] ?? "", name));
}

const ENDS = /^(?:output_item\.done|content_block_stop) \w+$/;
const BEGINNINGS = /^(?:output_item\.added|content_block_start) \w+$/;

function pairOf(one: string, other: string): string {
  const bare = (name: string, pattern: RegExp): string => (pattern.test(name) ? (name.split(" ")[0] ?? "") : name);
  const isInside = !ENDS.test(one) || !BEGINNINGS.test(other);
  if (isInside && !BEGINNINGS.test(other)) return `${ENDS.test(one) ? bare(one, ENDS) : one} > ${other}`;
  return `${bare(one, ENDS)} > ${bare(other, BEGINNINGS)}`;
}

/** The pairs of all recorded streams of the dialect's maker. */
export function recordedPairs(dialect: StreamedDialect): ReadonlySet<string> {
  const streams = recordings.filter(
    (each) =>
      each.dialect === dialect &&
      each.stream &&
      each.status === 200 &&
      (makers[dialect] ?? each.upstream) === each.upstream,
  );
  return new Set(streams.flatMap((each) => pairsIn(dialect, bytesOf(each).toString("utf8"))));
}

export function dataIn(text: string): JsonObject[] {
  return dataOf(text).flatMap((data) => (data === "[DONE]" ? [] : [parse(data)]));
}

const namesIn: Readonly<Record<StreamedDialect, (events: readonly JsonObject[]) => string[]>> = {
  chat: (events) => events.flatMap(namesOfChunk),
  messages(events) {
    const types = new Map<unknown, string>();
    return events.flatMap((event): string[] => {
      const { type, index, content_block: block, delta } = event;
      if (type === "ping") return [];
      if (block !== undefined) types.set(index, stringOf(objectOf(block)?.["type"]));
      const change = index === undefined ? undefined : objectOf(delta)?.["type"];
      return [[stringOf(type), types.get(index) ?? "", stringOf(change)].filter((name) => name !== "").join(" ")];
    });
  },
  responses: (events) =>
    events.map(({ type, item, part }) => {
      const kind = objectOf(item ?? part)?.["type"];
      return [stringOf(type).replace("response.", ""), stringOf(kind)].filter((name) => name !== "").join(" ");
    }),
};

/** The parts of a chunk that a client can see. */
function namesOfChunk({ choices, usage }: JsonObject): string[] {
  const [choice] = objectsOf(choices);
  if (choice === undefined) return usage === undefined || usage === null ? [] : ["usage"];
  const { finish_reason: finish, delta } = choice;
  const said = Object.entries(objectOf(delta) ?? {}).filter(([, value]) => !isEmpty(value));
  const names = said.map(([name]) => name).toSorted();
  return [...(names.length > 0 ? [names.join("+")] : []), ...(finish == null ? [] : ["finish"])];
}
