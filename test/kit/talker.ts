/** A caller of any route, whose answers are read whole or event by event. */
import { EventReader } from "./stream.ts";
import { waitMsMax } from "./time-limits.ts";

export const messagesPath = "/v1/messages";
export const responsesPath = "/v1/responses";

export interface ReceivedAnswer {
  status: number;
  headers: Headers;
  text: string;
  /** Undefined if it is not JSON. */
  json: unknown;
}

export interface TalkOptions {
  method?: "GET" | "POST" | "DELETE";
  /** A string or bytes are sent as they are. */
  body?: string | Uint8Array | object;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

export interface Talker {
  /** A complete call; a POST if it has a body. */
  ask(path: string, options?: TalkOptions): Promise<ReceivedAnswer>;
  /** An answer that is still to be read. */
  send(path: string, options?: TalkOptions): Promise<Response>;
}

export function talker(url: string, token: string): Talker {
  const send: Talker["send"] = (path, { method, body, headers, signal } = {}) => {
    const deadline = AbortSignal.timeout(waitMsMax);
    const asIs = typeof body === "string" || body instanceof Uint8Array;
    return fetch(url + path, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: asIs ? Buffer.from(body) : JSON.stringify(body) }),
      signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    });
  };
  return {
    send,
    async ask(path, options) {
      const answer = await send(path, options);
      const text = await answer.text();
      return { status: answer.status, headers: answer.headers, text, json: parse(text) };
    },
  };
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

/** A response as far as the tests read it. */
export interface ReceivedResponse {
  id: string;
  status: string;
  output: { type: string; id: string; content?: { type: string; text: string }[] }[];
  previous_response_id: string | null;
}

/** The response of an answer; fails with the answer's text if there is none. */
export function responseIn({ status, text, json }: ReceivedAnswer): ReceivedResponse {
  if (status !== 200) throw new Error(`${status}: ${text}`);
  return json as ReceivedResponse;
}

/** The text of a response. */
export function textIn({ output }: ReceivedResponse): string {
  return output.flatMap(({ content = [] }) => content.map(({ text }) => text)).join("");
}

/** Reads a streamed response up to the event that ends it, and no further. */
export async function endOf(answer: Response): Promise<{ response: ReceivedResponse; reader: EventReader }> {
  const reader = new EventReader(answer);
  for (let event = await reader.next(); event !== undefined; event = await reader.next()) {
    if (!/^event: response\.(?:completed|incomplete)$/m.test(event)) continue;
    const data = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] ?? "") as { response: ReceivedResponse };
    return { response: data.response, reader };
  }
  throw new Error("the stream has no end");
}
