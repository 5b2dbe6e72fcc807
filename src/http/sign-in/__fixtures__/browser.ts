/** Browsers with pages of a gateway, without a socket. */
import { afterEach, beforeEach, expect } from "bun:test";
import { createToken } from "../../../accounts/index.ts";
import { AdminServer } from "../../admin/__fixtures__/admin-server.ts";

export const SITE = "https://gateway.test";
export const HOUR = 3_600_000;

export let server: AdminServer;

interface Answer {
  status: number;
  code: string | undefined;
  json: Record<string, unknown>;
  headers: Headers;
}

export interface Sent {
  method?: string;
  body?: object | undefined;
  headers?: Record<string, string>;
  host?: string;
}

export async function send(
  path: string,
  { method = "GET", body, headers = {}, host = "http://gateway.test" }: Sent = {},
) {
  const answer = await server.send(
    new Request(host + path, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }),
  );
  const json = (await answer.json()) as Record<string, unknown> & { error?: { code: string } };
  return { status: answer.status, code: json.error?.code, json, headers: answer.headers } satisfies Answer;
}

/** A browser with a page of this gateway. */
export class TestBrowser {
  cookie = "";

  async signIn(token: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.#keep(await this.send("POST /admin/v1/session", { token }, headers));
  }

  async send(route: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
    const [method = "", path = ""] = route.split(" ");
    const own: Record<string, string> = this.cookie === "" ? {} : { cookie: this.cookie };
    return send(path, { method, body, headers: { ...own, origin: SITE, "sec-fetch-site": "same-origin", ...headers } });
  }

  /** The code of a refusal, or the role of the caller. */
  async state(): Promise<unknown> {
    const { code, json } = await this.send("GET /admin/v1/session");
    return code ?? json["role"];
  }

  #keep(answer: Answer): Answer {
    const [set] = answer.headers.getSetCookie();
    if (set !== undefined) this.cookie = set.split(";")[0] ?? "";
    return answer;
  }
}

/** One that has signed in. */
export async function browserOf(token: string): Promise<TestBrowser> {
  const browser = new TestBrowser();
  const { status, json } = await browser.signIn(token);
  expect([status, json["object"]]).toEqual([200, "session"]);
  return browser;
}

const none = { id: "", token: "" };
/** Tokens of an owner, of a member of an organisation, and of its admin. */
export let [root, ann, head] = [none, none, none];

/** Each test gets a gateway on a storage of its own. */
export function withServer(storage: () => Promise<string>): void {
  beforeEach(async () => {
    server = await AdminServer.open(await storage());
    const { deps } = server;
    root = await createToken(deps, { user: "root", role: "owner" });
    ann = await createToken(deps, { user: "ann", organisation: "acme" });
    head = await createToken(deps, { user: "head", organisation: "acme", role: "organisation_admin" });
  });
  afterEach(() => server.close());
}
