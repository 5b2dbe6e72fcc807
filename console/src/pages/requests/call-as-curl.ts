import type { Generation } from "../../api/types.ts";

/** The routes of the formats of text generation, and the member of their bodies that has the prompt. */
const formats: Readonly<Record<string, { path: string; body: object }>> = {
  chat: { path: "/v1/chat/completions", body: { messages: [{ role: "user", content: "…" }] } },
  messages: { path: "/v1/messages", body: { max_tokens: 1_024, messages: [{ role: "user", content: "…" }] } },
  responses: { path: "/v1/responses", body: { input: "…" } },
};

/** A command that makes such a call again, or that asks for its record if its kind needs more than a text. */
export function callAsCurl(call: Generation, origin: string): string {
  const format = call.dialect === null ? undefined : formats[call.dialect];
  if (format === undefined) {
    return `curl -s ${origin}/v1/generations/${call.id} \\\n  -H "Authorization: Bearer $TOLLGATE_TOKEN"`;
  }
  const body = { model: call.model, ...format.body, ...(call.streamed && { stream: true }) };
  const session = call.session === null ? "" : `  -H ${quoted(`x-tollgate-session: ${call.session}`)} \\\n`;
  return `curl -s ${origin}${format.path} \\
  -H "Authorization: Bearer $TOLLGATE_TOKEN" \\
  -H "Content-Type: application/json" \\
${session}  -d ${quoted(JSON.stringify(body))}`;
}

/** As one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
