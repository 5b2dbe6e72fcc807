import { createHash } from "node:crypto";
import { html, raw } from "hono/html";
import { pageHeaders } from "../page-headers.ts";
import type { HttpRoute } from "../route.ts";
import type { Services } from "../services.ts";

const style = `
:root { color-scheme: light dark; --line: light-dark(#d5d9e0, #3a3f48); --code: light-dark(#f4f5f7, #1d2026) }
body { max-width: 50rem; margin: 3rem auto; padding: 0 1.25rem; font: 1rem/1.55 system-ui, sans-serif;
  color: light-dark(#1b1f24, #e4e7eb); background: light-dark(#fff, #121418) }
h1 { margin: 0 0 .5rem; font-size: 1.75rem }
h2 { margin: 2rem 0 .5rem; font-size: 1.1rem }
a { color: light-dark(#0b57d0, #8ab4f8) }
.wide { overflow-x: auto }
table { border-collapse: collapse }
th, td { padding: .35rem 1.5rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
code, pre { font: .875rem/1.5 ui-monospace, monospace }
td code { white-space: nowrap }
pre { overflow-x: auto; margin: .5rem 0; padding: .75rem 1rem; border: 1px solid var(--line); border-radius: .375rem;
  background: var(--code) }
.note { padding: .5rem 1rem; border-left: .25rem solid light-dark(#c77700, #f0b35a); background: var(--code) }
`;

/** As one piece: its bytes must have the hash that the policy names. */
const styleElement = raw(`<style>${style}</style>`);

const ownHeaders = {
  ...pageHeaders({ "style-src": `'sha256-${createHash("sha256").update(style).digest("base64")}'` }),
  vary: "accept",
};

type Needs = Pick<Services, "version" | "sandboxed">;

/**
 * The gateway's own address: an introduction for people as a page, for programs as JSON. It is public, and has no more facts than
 * `/health`.
 */
export const startPageRoute: HttpRoute<Needs, "public"> = {
  kind: "http",
  method: "get",
  path: "/",
  surface: "openai",
  access: "public",
  async handle({ request }, services) {
    if (request.headers.get("accept")?.includes("text/html") === true) {
      return new Response(await pageOf(addressOf(request), services), { headers: ownHeaders });
    }
    const paths = {
      console: "/console",
      documentation: "/docs",
      openapi: "/openapi.json",
      health: "/health",
      models: "/v1/models",
    };
    return Response.json({ name: "Tollgate", version: services.version, ...paths }, { headers: { vary: "accept" } });
  },
};

/** As the browser has it: a proxy in front of the gateway may have ended its TLS. The page alone shows it. */
function addressOf({ url, headers }: Request): string {
  const { host, protocol } = new URL(url);
  return `${headers.get("x-forwarded-proto") === "https" ? "https:" : protocol}//${host}`;
}

function pageOf(url: string, { version, sandboxed }: Needs) {
  const simulated = html`<p class="note">
    This is a sandbox: simulators answer in the place of ${sandboxed.join(", ")}, and calls cost play money.
  </p>`;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Tollgate</title>
        ${styleElement}
      </head>
      <body>
        <h1>Tollgate</h1>
        <p>
          One HTTP gateway in front of every AI provider: chat, Messages, Responses, embeddings, images, video, audio,
          realtime and the web, with one token, paid from one prepaid balance.
        </p>
        <p><a href="/console">Console</a> · <a href="/docs">Documentation</a></p>
        ${sandboxed.length > 0 ? simulated : ""} ${settingsOf(url)} ${firstCallsOf(url)}
        <h2>This gateway</h2>
        <p>
          <a href="/openapi.json">OpenAPI description</a> · <a href="/health">health</a> ·
          <a href="/health/ready">readiness</a> · version ${version}
        </p>
      </body>
    </html> `;
}

/** The settings of each kind of client: its base URL, and the variable or header of its token. */
function settingsOf(url: string) {
  const clients = [
    ["OpenAI’s SDKs, and tools built on them", `${url}/v1`, "OPENAI_API_KEY"],
    ["Anthropic’s SDKs, Claude Code", url, "ANTHROPIC_API_KEY"],
    ["Google’s SDKs, Gemini CLI", url, "GEMINI_API_KEY"],
    ["Firecrawl’s SDKs", url, "FIRECRAWL_API_KEY"],
    ["anything else", url, "Authorization: Bearer …"],
  ];
  const rows = clients.map(
    ([client, address, token]) =>
      html`<tr>
        <td>${client}</td>
        <td><code>${address}</code></td>
        <td><code>${token}</code></td>
      </tr>`,
  );
  return html`<h2>Clients</h2>
    <div class="wide">
      <table>
        <tr>
          <th>client</th>
          <th>base URL</th>
          <th>token</th>
        </tr>
        ${rows}
      </table>
    </div>
    <p>
      Model ids have the provider’s prefix, as in <code>anthropic/claude-haiku-4-5</code>. Every model that generates
      text can be called by each of these clients. <a href="/docs/clients">More clients</a>.
    </p>`;
}

function firstCallsOf(url: string) {
  return html`<h2>A first call</h2>
    <pre>
export TOLLGATE_URL=${url} TOLLGATE_TOKEN=tg_…

curl -s $TOLLGATE_URL/v1/chat/completions \\
  -H "Authorization: Bearer $TOLLGATE_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"openai/gpt-5-mini","messages":[{"role":"user","content":"Hello!"}]}'</pre>
    <h2>Claude Code</h2>
    <pre>
export ANTHROPIC_BASE_URL=$TOLLGATE_URL
export ANTHROPIC_AUTH_TOKEN=$TOLLGATE_TOKEN
export ANTHROPIC_MODEL=anthropic/claude-sonnet-5
claude</pre>
    <h2>Codex, in <code>~/.codex/config.toml</code></h2>
    <pre>
model = "openai/gpt-5-mini"
model_provider = "tollgate"

[model_providers.tollgate]
name = "Tollgate"
base_url = "${url}/v1"
env_key = "TOLLGATE_TOKEN"
wire_api = "responses"</pre>`;
}
