/** A caller of the file routes, byte by byte: no SDK refuses or repairs what it sends. */
import type { Rig } from "../kit/index.ts";

interface FilesAnswer {
  status: number;
  headers: Headers;
  text: string;
  json: Record<string, unknown>;
  /** The code of an error. */
  code: unknown;
}

export interface FilesClient {
  user: string;
  token: string;
  /** A request below `/v1/`. */
  ask(path: string, init?: RequestInit): Promise<FilesAnswer>;
  /** Uploads a file, and returns the answer. */
  upload(provider: string, content?: string | Blob, fields?: Record<string, string>): Promise<FilesAnswer>;
  /** Uploads a file that must be taken, and returns its id. */
  uploaded(provider: string, content?: string | Blob): Promise<string>;
}

interface ClientOptions {
  user?: string;
  service?: boolean;
  /** In nano-credits. */
  credits?: bigint;
  /** Requests a minute. */
  rpm?: number;
}

let users = 0;

/** A new user. */
export async function newFilesClient(
  { gateway }: Pick<Rig, "gateway">,
  { user = `user-${(users += 1)}`, service = false, ...limits }: ClientOptions = {},
): Promise<FilesClient> {
  const token = await gateway.token({ user, service, ...limits });
  const ask = async (path: string, init: RequestInit = {}): Promise<FilesAnswer> => {
    const headers = { authorization: `Bearer ${token}`, ...(init.headers as Record<string, string> | undefined) };
    const answer = await fetch(`${gateway.url}/v1/${path}`, { ...init, headers });
    const text = await answer.text();
    const json = text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {};
    const { code } = (json["error"] ?? {}) as { code?: unknown };
    return { status: answer.status, headers: answer.headers, text, json, code };
  };
  const upload: FilesClient["upload"] = (provider, content = "content", fields = {}) => {
    const body = new FormData();
    for (const [name, value] of Object.entries({ purpose: "user_data", ...fields })) body.append(name, value);
    body.append("file", new File([content], "a-secret-name.txt", { type: "text/plain" }));
    return ask(`files?provider=${provider}`, { method: "POST", body });
  };
  return {
    user,
    token,
    ask,
    upload,
    async uploaded(provider, content) {
      const { json, status, text } = await upload(provider, content);
      if (status !== 200) throw new Error(`the upload was refused: ${text}`);
      return String(json["id"]);
    },
  };
}
