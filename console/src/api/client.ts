/** Requests to the gateway that serves the console. The browser adds the cookie of the session; no script sees it. */

/** A refusal of the gateway, or an answer that never came. */
export class ApiError extends Error {
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  readonly code: string | null;
  /** The id under which the gateway's log has the request. */
  readonly requestId: string | null;

  constructor({ status, code, message, requestId }: Pick<ApiError, "status" | "code" | "message" | "requestId">) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.code = code;
    this.requestId = requestId;
  }
}

/** The parameters of a query. Those that are undefined or empty are left out. */
export type Parameters = Readonly<Record<string, string | number | undefined>>;

export function addressOf(path: string, parameters: Parameters = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined && value !== "") query.set(name, String(value));
  return query.size === 0 ? path : `${path}?${query}`;
}

interface RequestOptions {
  method?: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Sent as JSON, or as it is with its own type if it is a file. */
  body?: object | Blob;
  accept?: string;
  headers?: Readonly<Record<string, string>>;
  /** Why, for the audit log. */
  reason?: string;
  signal?: AbortSignal;
}

/** A text as the bytes of UTF-8, which is how the gateway reads headers. */
const headerOf = (text: string): string => String.fromCharCode(...new TextEncoder().encode(text));

/** The answer of a request that succeeded. Throws an `ApiError` otherwise. */
export async function send(address: string, options: RequestOptions = {}): Promise<Response> {
  const { method = "GET", body, accept = "application/json", headers = {}, reason: why = "", signal } = options;
  const response = await fetch(address, {
    method,
    headers: {
      accept,
      ...(body !== undefined && { "content-type": body instanceof Blob ? body.type : "application/json" }),
      ...headers,
      ...(why !== "" && { "x-tollgate-reason": headerOf(why) }),
    },
    ...(body !== undefined && { body: body instanceof Blob ? body : JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  }).catch((reason: unknown) => {
    if (reason instanceof DOMException && reason.name === "AbortError") throw reason;
    throw new ApiError({ status: 0, code: null, message: "The gateway does not answer.", requestId: null });
  });
  if (!response.ok) throw await refusalOf(response);
  return response;
}

/** The JSON of an answer; undefined if it has no body. */
export async function request<Answer>(address: string, options: RequestOptions = {}): Promise<Answer> {
  const response = await send(address, options);
  const text = await response.text();
  return (text === "" ? undefined : JSON.parse(text)) as Answer;
}

async function refusalOf(response: Response): Promise<ApiError> {
  const { status, headers } = response;
  const { message, code } = detailOf(await response.text().catch(() => ""));
  return new ApiError({
    status,
    code,
    message: message ?? `The gateway answered ${status}.`,
    requestId: headers.get("x-request-id"),
  });
}

/** The error body of the API; empty for the answer of a proxy in between. */
function detailOf(text: string): { message?: string; code: string | null } {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown; code?: unknown } };
    const code = typeof error?.code === "string" ? error.code : null;
    return typeof error?.message === "string" ? { message: error.message, code } : { code };
  } catch {
    return { code: null };
  }
}
