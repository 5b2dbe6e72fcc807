/** Which tools of a call the gateway runs, and the calls that have some. */
import type { Principal } from "../auth/index.ts";
import type { ChargeableBody, ChargeableRoute, HostedCall, HostedLoops, IncomingCall } from "../calls/index.ts";
import type { PaidAnswer } from "../charges/index.ts";
import { type JsonObject, objectsOf, stringOf } from "../core/index.ts";
import { ownResultStart } from "../dialects/index.ts";
import type { Target } from "../routing/index.ts";
import { mayCall } from "../tools/index.ts";
import type { HostedSetting, HostedToolsOptions } from "./hosted-options.ts";
import { OWN } from "./running/own-tools.ts";
import { askedServers, type FindServer, mayHaveServers } from "./requests/asked-servers.ts";
import {
  askedTools,
  type AskedTool,
  type HostedDialect,
  mayHaveHosted,
  requireFewHosted,
  SEARCH_MEMBER,
} from "./requests/asked-tools.ts";
import { nativeIn } from "./requests/native-tools.ts";
import { requireMask } from "./requests/image-model.ts";
import { actionsIn } from "./requests/configured-tools.ts";
import { requireDomains } from "./requests/web-options.ts";
import type { DecidedTools } from "./requests/loop-request.ts";

interface Running {
  principal: Principal;
  setting: HostedSetting;
  options: Pick<HostedToolsOptions, "findsWorld" | "imageModel">;
}

/**
 * The tool as the gateway would run it for a caller; undefined if it can't. A token that may not call the tool that does the same,
 * the gateway's own or that of a server, may not use the hosted one.
 */
function runnable(tool: AskedTool, { principal, setting, options }: Running): AskedTool | undefined {
  const { mode, tools = {} } = setting;
  if (mode === "native") return undefined;
  if ("configured" in tool) {
    const configured = actionsIn(tools, tool.type).filter(({ name }) => mayCall(principal, name));
    return configured.length === 0 ? undefined : { ...tool, configured };
  }
  if (tool.kind === "tool_search") return tool;
  if (tool.kind === "image_generation") {
    if (!mayCall(principal, "image_generate")) return undefined;
    const found = options.imageModel(stringOf(tool.value["model"]) || undefined, principal);
    const models = found && (mayCall(principal, "image_edit") ? found : { ...found, editId: undefined });
    const isPossible = models?.editId !== undefined || tool.value["action"] !== "edit";
    return models === undefined || !isPossible ? undefined : { ...tool, models };
  }
  if (tool.kind === "web_fetch") return mayCall(principal, "web_scrape") ? tool : undefined;
  return (options.findsWorld || mode === "gateway") && mayCall(principal, "web_search") ? tool : undefined;
}

/** The members of a body that ask for hosted tools or servers. */
const askingMembers = ["tools", "mcp_servers", SEARCH_MEMBER] as const;

/** Whether a text has the id of a use of a tool that the gateway has run. The expression alone takes milliseconds for a megabyte. */
function hasOwnUse(text: string): boolean {
  return (text.includes("srvtoolu_0") || text.includes("mcptoolu_0")) && OWN_USE.test(text);
}

const OWN_USE = /"(?:srv|mcp)toolu_0[a-z\d]{24}_\d+_\d+"/;

export class HostedTools implements HostedLoops {
  readonly #options: HostedToolsOptions;

  constructor(options: HostedToolsOptions) {
    this.#options = options;
  }

  takes(call: HostedCall): boolean {
    const { dialect, body, text, target } = call;
    // Results that were found here open here alone.
    if (dialect === "messages" && text.includes(ownResultStart)) return true;
    // Anthropic knows no use of a tool that was run here; for others it is a text.
    if (dialect === "messages" && target.operation.dialect === "messages" && hasOwnUse(text)) return true;
    // A look at names, since every call is asked.
    if (!askingMembers.some((name) => body[name] !== undefined)) return false;
    if (dialect === "gemini" || !(mayHaveHosted(dialect, body) || mayHaveServers(dialect, body))) return false;
    const { run, left, servers } = this.#decide({ ...call, dialect });
    return run.length + left.length + servers.length > 0;
  }

  async opened(body: JsonObject, { user }: Principal): Promise<JsonObject> {
    const { openedMessages } = await import("./requests/opened-messages.ts");
    return { ...body, messages: openedMessages(objectsOf(body["messages"]), this.#options.results.of(user)) };
  }

  async run<Body extends ChargeableBody>(
    route: ChargeableRoute<Body>,
    incoming: IncomingCall & { body: Uint8Array },
    target: Target,
  ): Promise<PaidAnswer> {
    const { shell, ...options } = this.#options;
    // A round by itself does not go on in the background, nor is its answer stored.
    const { background, ...ofRounds } = route;
    const { principal } = incoming;
    // A gateway without such calls does not load it.
    const { LoopWay } = await import("./loop-way.ts");
    const way = new LoopWay({
      ...options,
      pages: options.pages(),
      servers: options.servers(),
      own: options.own(),
      perform: (round) => options.perform(ofRounds, round),
      route: ofRounds,
      background,
      incoming,
      target,
      decide: (dialect, body) => this.#decide({ dialect, body, target, principal }),
    });
    return shell.run(incoming, way);
  }

  #decide({ dialect, body, target, principal }: Omit<HostedCall, "text"> & { dialect: HostedDialect }): DecidedTools {
    requireFewHosted(dialect, body);
    const isNative = nativeIn(dialect, body, target);
    const run: AskedTool[] = [];
    const left: AskedTool[] = [];
    for (const tool of askedTools(dialect, body)) {
      const setting = this.#options.hosted[tool.kind];
      const own = runnable(tool, { principal, setting, options: this.#options });
      if (setting.mode === "off") left.push(tool);
      else if (own !== undefined && (setting.mode === "gateway" || !isNative(tool))) {
        if ("unreadDomain" in own) requireDomains(own);
        if ("models" in own) requireMask(own);
        run.push(own);
      } else if (tool.kind === "tool_search" && !isNative(tool)) left.push(tool);
    }
    return { run, left, servers: askedServers(dialect, body, (url, label) => this.#serverAt(url, label)) };
  }

  /** A server without an address is one of this gateway by its label. */
  #serverAt(url: string | undefined, label: string): ReturnType<FindServer> {
    const { publicUrl, servers } = this.#options;
    const name = url === undefined ? label : nameIn(url, publicUrl);
    if (name !== undefined)
      return name === OWN || servers().door(name) !== undefined ? { name, address: url } : undefined;
    return url !== undefined && servers().permitsUrl(url) ? { url } : undefined;
  }
}

/** The name in an address of MCP of this gateway, of which one without a name has the gateway's own tools. */
function nameIn(url: string, publicUrl: string): string | undefined {
  const [asked, own] = [URL.parse(url), URL.parse(publicUrl)];
  if (asked === null || own === null || asked.host !== own.host) return undefined;
  return asked.pathname === "/mcp" ? OWN : /^\/mcp\/([^/]+)$/.exec(asked.pathname)?.[1];
}
