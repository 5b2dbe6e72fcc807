import { type Attachment, describeAttachment } from "./attachments.ts";
import { isObject, parseJson } from "./json.ts";
import { jsonInstance } from "./json-instance.ts";
import { lastText, type Prompt, type PromptMessage } from "./prompt.ts";
import type { Scenario } from "./scenario.ts";
import { readScript } from "./script.ts";
import { firstWords } from "./words.ts";

const quotedWordsMax = 60;

const vocabulary = [
  "amber",
  "bridge",
  "candle",
  "dawn",
  "ember",
  "forest",
  "garden",
  "harbour",
  "island",
  "juniper",
  "kettle",
  "lantern",
  "meadow",
  "north",
  "orchard",
  "pebble",
  "quiet",
  "river",
  "silver",
  "timber",
  "umbrella",
  "valley",
  "winter",
  "yellow",
];

/**
 * The text of the simulated model, before any limit: the tools' answers, JSON, counted words, or the user's own text.
 */
export function sayAnswer(prompt: Prompt, scenario: Scenario, choice: number): string {
  const dictated = readScript(prompt.messages)?.reply ?? null;
  if (dictated !== null) return dictated;
  const results = lastResults(prompt.messages);
  const asked = prompt.messages.findLast((message) => message.role === "user");
  const text = results.length > 0 ? sayResults(results) : withoutReminders(asked?.text ?? "");
  if (prompt.format.kind === "json") return jsonText(prompt.format.schema ?? schemaInPrompt(prompt.messages), text);
  if (results.length > 0) return text;
  if (scenario.words !== null) return exactWords(scenario.words, choice);
  const opening = choice === 0 ? "You said:" : `Choice ${choice + 1}, you said:`;
  const seen = sayAttachments(asked?.attachments ?? []);
  return `${opening} ${firstWords(text, quotedWordsMax) || "nothing"}.${seen} That is all I have to say.`;
}

/** Coding agents put notes to the model before their user's words; a model answers the user. */
function withoutReminders(text: string): string {
  return text.replaceAll(/<system-reminder>[^]*?<\/system-reminder>/g, "").trim();
}

/** Its thinking, if requested. */
export function sayReasoning(prompt: Prompt): string {
  if (!prompt.reasoning) return "";
  const thought = `The request has ${prompt.messages.length} messages so I consider the last one and then answer.`;
  // At most half of the limit is spent on reasoning, which leaves room for an answer.
  return firstWords(thought, Math.floor(prompt.tokensMax / 2));
}

/** The text of a refusal. */
export function sayRefusal(messages: readonly PromptMessage[]): string {
  return `I can't help with this: ${firstWords(lastText(messages, "user"), quotedWordsMax)}.`;
}

/** The results that answer the last calls; none if the conversation continued since. */
function lastResults(messages: readonly PromptMessage[]): readonly PromptMessage[] {
  return messages.slice(messages.findLastIndex((message) => message.role !== "tool") + 1);
}

function sayResults(results: readonly PromptMessage[]): string {
  const told = results.map(({ text, failed }) => `${failed ? "The tool failed:" : "The tool answered:"} ${text}`);
  const seen = sayAttachments(results.flatMap(({ attachments }) => attachments));
  return seen === "" ? told.join(". ") : `${told.join(". ")}.${seen}`;
}

function sayAttachments(attachments: readonly Attachment[]): string {
  return attachments.length === 0 ? "" : ` I see ${attachments.map(describeAttachment).join(" and ")}.`;
}

/** A schema on a line of the system prompt, which models follow without any option for it; null without one. */
function schemaInPrompt(messages: readonly PromptMessage[]): unknown {
  const lines = messages.flatMap(({ role, text }) => (role === "system" ? text.split("\n") : []));
  return lines.map((line) => (line.startsWith("{") ? parseJson(line) : undefined)).find(isObject) ?? null;
}

/** JSON with a space between its parts, which streams and counts as more than one word. */
function jsonText(schema: unknown, asked: string): string {
  const value = schema === null ? { answer: firstWords(asked, quotedWordsMax) } : jsonInstance(schema);
  return JSON.stringify(value, null, 1).replace(/\n\s*/g, " ");
}

/** That many words, the same ones for the same choice. */
export function exactWords(count: number, choice: number): string {
  const words: string[] = [];
  for (let index = 0; index < count; index++) words.push(vocabulary[(index + choice) % vocabulary.length] ?? "word");
  return words.join(" ");
}
