/** A conversation of the playground, and its bodies for Chat Completions. */

export interface ToolCall {
  id: string;
  name: string;
  /** JSON, as the model has written it. */
  arguments: string;
}

export type Turn =
  | { role: "user"; text: string; pictures: readonly string[] }
  | { role: "assistant"; text: string; toolCalls: readonly ToolCall[]; requestId: string | null }
  | { role: "tool"; callId: string; text: string };

export interface Settings {
  model: string;
  system: string;
  /** The most tokens of an answer. */
  tokensMax: number;
  /** A JSON list of tools in the shape of Chat Completions; empty without tools. */
  tools: string;
}

/** The tools of the settings. Throws if they are no list in JSON. */
function toolsOf({ tools }: Pick<Settings, "tools">): readonly unknown[] {
  if (tools.trim() === "") return [];
  const parsed: unknown = JSON.parse(tools);
  if (!Array.isArray(parsed)) throw new TypeError("Tools are a list in JSON.");
  return parsed;
}

/** Why the tools can't be sent; undefined if they can. */
export function faultOfTools(settings: Pick<Settings, "tools">): string | undefined {
  try {
    toolsOf(settings);
    return undefined;
  } catch (reason) {
    return reason instanceof Error ? reason.message : String(reason);
  }
}

function messageOf(turn: Turn): object {
  if (turn.role === "tool") return { role: "tool", tool_call_id: turn.callId, content: turn.text };
  if (turn.role === "assistant") {
    const calls = turn.toolCalls.map(({ id, name, arguments: text }) => ({
      id,
      type: "function",
      function: { name, arguments: text },
    }));
    return { role: "assistant", content: turn.text, ...(calls.length > 0 && { tool_calls: calls }) };
  }
  if (turn.pictures.length === 0) return { role: "user", content: turn.text };
  const pictures = turn.pictures.map((url) => ({ type: "image_url", image_url: { url } }));
  return { role: "user", content: [{ type: "text", text: turn.text }, ...pictures] };
}

/** The body of the next call. */
export function chatBody(settings: Settings, turns: readonly Turn[]): Record<string, unknown> {
  const { model, system, tokensMax } = settings;
  const tools = toolsOf(settings);
  const first = system.trim() === "" ? [] : [{ role: "system", content: system }];
  return {
    model,
    messages: [...first, ...turns.map(messageOf)],
    max_completion_tokens: tokensMax,
    ...(tools.length > 0 && { tools }),
  };
}

/** About the tokens of a text: four of its bytes are one. */
export function aboutTokens(body: object): number {
  return Math.ceil(new TextEncoder().encode(JSON.stringify(body)).length / 4);
}
