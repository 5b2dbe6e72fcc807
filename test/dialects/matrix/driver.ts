/** One interface for three SDKs, so that every scenario is written once. */
export interface Ask {
  model: string;
  /** Of the user's message. */
  text: string;
  stream?: boolean;
  /** How many tools are offered. */
  tools?: number;
  image?: boolean;
  thinks?: boolean;
  /** JSON Schema of the answer. */
  schema?: Record<string, unknown>;
  stop?: string;
  tokensMax?: number;
}

interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

/** An answer, read from the SDK's objects. */
export interface ClientResult {
  text: string;
  thoughts: string;
  calls: ToolCall[];
  stop: "end" | "tools" | "length" | "stop-sequence";
  /** All that went in and all that came out. */
  usage: { input: number; output: number };
  /**
   * Sends a result for each call, as a user of the SDK does: the whole conversation is returned unchanged, possibly to
   * another model.
   */
  reply: (results: readonly string[], model?: string) => Promise<ClientResult>;
}

export interface Driver {
  ask: (ask: Ask) => Promise<ClientResult>;
  /** Text that has been streamed so far, over all calls. */
  streamed: () => string;
  /** The SDK's exception for this status. */
  errorClass: (status: number) => abstract new (...parts: never[]) => Error;
  /** `x-request-id` of the answers so far. */
  requestIds: readonly string[];
}

/** The gateway's address for a driver. */
export interface Access {
  url: string;
  token: string;
}

/** `fetch` that notes the ids of the answers. */
export function notingFetch(
  requestIds: string[],
): (input: string | URL | Request, init?: RequestInit) => Promise<Response> {
  return async (input, init) => {
    const response = await fetch(input, init);
    requestIds.push(response.headers.get("x-request-id") ?? "none");
    return response;
  };
}

/** Two tools; their order is the order of the simulators' calls. */
export const tools = [
  {
    name: "get_weather",
    description: "Weather of a city",
    parameters: {
      type: "object" as const,
      properties: { city: { type: "string" }, days: { type: "integer", minimum: 1, maximum: 7 } },
      required: ["city", "days"],
      additionalProperties: false,
    },
  },
  {
    name: "get_time",
    description: "Time in a city",
    parameters: {
      type: "object" as const,
      properties: { city: { type: "string" } },
      required: ["city"],
      additionalProperties: false,
    },
  },
];

/** One pixel; 70 bytes. */
export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
