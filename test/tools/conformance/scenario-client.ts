/** The gateway as the client of one scenario's server: its configuration, a caller, and the caller's browser. */
import { readFileSync, writeFileSync } from "node:fs";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { parse, stringify } from "yaml";
import type { Gateway } from "../../kit/index.ts";
import { askAs, type JsonAnswer as Json } from "../ask-as.ts";

export const PUBLIC_URL = "https://conformance-test.local";

/** How often a caller connects the account again before they give up. */
const SIGN_INS_MAX = 4;

export interface ClientScenario {
  url: string;
  scenario: string;
  context: Json;
}

export class ScenarioClient {
  readonly #gateway: Gateway;
  readonly #owner: string;
  readonly #token: string;
  #servers = 0;
  #reloading: Promise<void> = Promise.resolve();
  #waiting: Record<string, Json> = {};

  constructor(gateway: Gateway, { owner, token }: { owner: string; token: string }) {
    this.#gateway = gateway;
    this.#owner = owner;
    this.#token = token;
  }

  /** Rejects if the gateway or the server refuses. */
  async perform({ url, scenario, context }: ClientScenario): Promise<void> {
    this.#servers += 1;
    const name = `s${this.#servers}`;
    const { client_id: id, client_secret: secret } = context;
    const oauth = {
      ...(id !== undefined && { client_id: id }),
      ...(secret !== undefined && { client_secret: secret }),
    };
    const auth = scenario.startsWith("auth/") ? { auth: { oauth, of: "user" } } : {};
    await this.#configure(name, { url, pin: false, timeout: "10s", ...auth });
    if ("auth" in auth) await this.#connect(name);
    let listed = await this.#list(name);
    for (let tries = 0; tries < SIGN_INS_MAX && listed.isMissing; tries += 1) {
      if ("auth" in auth && (await this.#needsSignIn(name))) await this.#connect(name);
      listed = await this.#list(name);
    }
    const { tools } = listed;
    for (const tool of tools) await this.#call(name, tool, context);
  }

  async #list(name: string) {
    const { tools, ...rest } = await this.#withClient(name, (client) => client.listTools());
    return { tools, isMissing: /"tollgate\/unavailable":\[[^\]]/.test(JSON.stringify(rest)) };
  }

  /** As the caller's list of accounts has it. */
  async #needsSignIn(server: string): Promise<boolean> {
    const { json } = await askAs(this.#gateway.url, this.#token, { path: "/v1/tools/connections" });
    const own = (json["data"] as { server: string; status: string }[]).find((each) => each.server === server);
    return own?.status !== "connected";
  }

  /** Several that wait are put into force together. */
  #configure(name: string, server: Json): Promise<void> {
    this.#waiting[name] = server;
    this.#reloading = this.#reloadAfter(this.#reloading);
    return this.#reloading;
  }

  async #reloadAfter(before: Promise<void>): Promise<void> {
    await before;
    const added = this.#waiting;
    if (Object.keys(added).length === 0) return;
    this.#waiting = {};
    const { configFile, url } = this.#gateway;
    const config = parse(readFileSync(configFile, "utf8")) as { mcp: { servers: Json } };
    Object.assign(config.mcp.servers, added);
    writeFileSync(configFile, stringify(config));
    const reload = { method: "POST", path: "/admin/v1/config/reload", body: {} };
    const { json } = await askAs(url, this.#owner, reload);
    if (!JSON.stringify(json).includes('"ok":true')) throw new Error(JSON.stringify(json));
  }

  async #withClient<Result>(name: string, ask: (client: Client) => Promise<Result>): Promise<Result> {
    const client = new Client(
      { name: "scenario", version: "1" },
      {
        versionNegotiation: { mode: { pin: "2026-07-28" } },
        capabilities: { elicitation: { form: {} } },
      },
    );
    // The user changes nothing of a form.
    client.setRequestHandler("elicitation/create", ({ params }) => {
      const { properties = {} } = ("requestedSchema" in params ? params.requestedSchema : {}) as { properties?: Json };
      const filled = Object.entries(properties).flatMap(([member, schema]) =>
        "default" in (schema as Json) ? [[member, (schema as Json)["default"]] as const] : [],
      );
      return { action: "accept" as const, content: Object.fromEntries(filled) as Record<string, string> };
    });
    const requestInit = { headers: { authorization: `Bearer ${this.#token}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${this.#gateway.url}/mcp/${name}`), { requestInit }),
    );
    try {
      return await ask(client);
    } finally {
      await client.close();
    }
  }

  /** Calls a tool; if that needs another sign-in, the caller goes through it and calls again. */
  async #call(name: string, tool: { name: string; inputSchema: object }, context: Json): Promise<void> {
    for (let signIns = 0; ; signIns += 1) {
      const result = await this.#withClient(name, (client) =>
        client.callTool({ name: tool.name, arguments: argumentsFor(tool.name, tool.inputSchema, context) }),
      );
      if (!JSON.stringify(result).includes('"code":"connection_required"')) return;
      if (signIns >= SIGN_INS_MAX) throw new Error("the server asks for more rights again and again");
      await this.#connect(name);
    }
  }

  /** The steps of the owner in their browser. */
  async #connect(server: string): Promise<void> {
    const { url } = this.#gateway;
    const opened = await askAs(url, this.#token, { method: "POST", path: "/v1/tools/connections", body: { server } });
    const page = this.#reached(String(opened.json["url"]));
    const sent = await fetch(page, {
      method: "POST",
      headers: { origin: PUBLIC_URL },
      body: new URLSearchParams({ token: this.#token }),
    });
    const text = await sent.text();
    const link = (/class="go"[^>]* href="([^"]+)"/.exec(text)?.[1] ?? "").replaceAll("&amp;", "&");
    if (link === "") throw new Error(text);
    const cookie = (sent.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    const left = await fetch(link, { redirect: "manual" });
    const back = left.headers.get("location") ?? "";
    if (!back.startsWith(`${PUBLIC_URL}/console/connections/callback?`)) throw new Error(`${left.status} ${back}`);
    const ended = await fetch(this.#reached(back), { headers: { cookie } });
    if (!ended.ok) throw new Error(await ended.text());
  }

  /** The public address leads nowhere here. */
  #reached(address: string): string {
    return address.replace(PUBLIC_URL, this.#gateway.url);
  }
}

/** Those that a scenario names, or any of the right types. */
function argumentsFor(name: string, schema: object, context: Json): Json {
  const calls = (context["toolCalls"] ?? []) as { name: string; arguments: Json }[];
  const named = calls.find((each) => each.name === name);
  if (named !== undefined) return named.arguments;
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  const samples: Json = { number: 5, integer: 3, boolean: true, string: "text", object: {}, array: [] };
  return Object.fromEntries(Object.entries(properties).map(([key, { type = "string" }]) => [key, samples[type]]));
}
