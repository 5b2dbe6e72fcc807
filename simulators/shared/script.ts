import { parseJson } from "./json.ts";
import type { PromptMessage } from "./prompt.ts";

/** A tool call that the user dictates. */
interface DictatedCall {
  /** The tool's name, behind its namespace and a dot if it has one. */
  readonly name: string;
  /** The arguments as JSON text; the plain text for a tool that takes free text. */
  readonly input: string;
}

/** The course of an agent's loop, dictated by the user. */
export interface Script {
  /** One call in each round, in this order. */
  readonly calls: readonly DictatedCall[];
  /** The final text; null without one. */
  readonly reply: string | null;
  /** The rounds of calls since the script was given. */
  readonly rounds: number;
}

const callLine = /^call:(\S+) (.+)$/gm;
const replyLine = /^reply:(".*")\s*$/m;

/**
 * The script of a conversation. A client may send reminders in the user's name between the rounds, so it is in the last
 * of the user's messages that contains one, wherever that is; null if there is none.
 */
export function readScript(messages: readonly PromptMessage[]): Script | null {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const message = messages[index];
    if (message?.role !== "user") continue;
    const script = scriptIn(message.text);
    if (script !== null) {
      const rounds = messages.slice(index).filter(({ calledTools }) => calledTools).length;
      return { ...script, rounds };
    }
  }
  return null;
}

function scriptIn(text: string): Omit<Script, "rounds"> | null {
  const calls = [...text.matchAll(callLine)].flatMap(([, name = "", json = ""]) => {
    const input = parseJson(json);
    if (input === undefined) return [];
    return [{ name, input: typeof input === "string" ? input : json.trim() }];
  });
  const reply = parseJson(replyLine.exec(text)?.[1] ?? "");
  if (calls.length === 0 && typeof reply !== "string") return null;
  return { calls, reply: typeof reply === "string" ? reply : null };
}
