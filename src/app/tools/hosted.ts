/** The part of the composition for hosted tools: it makes calls of the pipeline that it is a part of. */
import type { CallPipeline } from "../../calls/index.ts";
import type { Config } from "../../config/index.ts";
import type { Environment } from "../../core/index.ts";
import {
  type ConfiguredTools,
  type HostedSetting,
  HostedTools,
  type HostedToolsOptions,
  SealedResults,
} from "../../hosted/index.ts";
import { ownInLoops, type Services } from "../../http/index.ts";
import { webPrice } from "../../pricing/index.ts";
import { encryptionKey, type Storage } from "../../storage/index.ts";
import type { WebAccess } from "../../web/index.ts";
import type { PaidWork } from "../paid-work.ts";

interface HostedOptions {
  config: Config;
  environment: Environment;
  storage: Storage;
  calls: PaidWork;
  publicUrl: string;
  /** Those of the same configuration, once they are made. */
  later: () => { pipeline: CallPipeline; web: WebAccess; services: Services };
}

export function createHosted({ config, environment, storage, calls, publicUrl, later }: HostedOptions): HostedTools {
  const { hosted, deadline } = config.tools;
  const { randomBytes } = environment;
  const key = encryptionKey({ configured: config.webhooks.encryption_key, storage, randomBytes });
  const own = ownInLoops(() => later().services);
  return new HostedTools({
    shell: calls.shell,
    logger: calls.logger,
    environment,
    perform: (route, call) => later().pipeline.run(route, call),
    pages: () => later().web,
    servers: () => later().services.mcp.gateway,
    own: () => own,
    results: new SealedResults({ key, randomBytes }),
    publicUrl,
    price: webPrice({ tool_calls_kcount: 0 }, 1_000_000n),
    hosted: settingsOf(hosted),
    findsWorld: config.web.search.backend !== "local",
    deadlineMs: deadline,
  });
}

/** The settings, with those of a tool by its name alone as whole ones. */
function settingsOf(hosted: Config["tools"]["hosted"]): HostedToolsOptions["hosted"] {
  const { web_search, web_fetch, tool_search, code_interpreter, code_execution, file_search, shell } = hosted;
  return {
    web_search: { mode: web_search },
    web_fetch: { mode: web_fetch },
    tool_search: { mode: tool_search },
    code_interpreter: servedSetting(code_interpreter, (tool) => ({ code_interpreter: tool })),
    code_execution: executionSetting(code_execution),
    file_search: servedSetting(file_search, (tool) => ({ file_search: tool })),
    shell: servedSetting(shell, (tool) => ({ shell: tool })),
  };
}

type Served = Config["tools"]["hosted"]["shell"];

function servedSetting(setting: Served, toolsOf: (tool: string) => ConfiguredTools): HostedSetting {
  if (setting === "native" || setting === "off") return { mode: setting };
  if (typeof setting === "string") return { mode: "auto", tools: toolsOf(setting) };
  return { mode: setting.mode, tools: toolsOf(setting.tool) };
}

function executionSetting(setting: Config["tools"]["hosted"]["code_execution"]): HostedSetting {
  if (typeof setting === "string") return servedSetting(setting, (tool) => ({ code_execution: tool }));
  const { mode, tool, bash, text_editor: editor } = setting;
  return {
    mode,
    tools: {
      ...(tool !== undefined && { code_execution: tool }),
      ...(bash !== undefined && { bash_code_execution: bash }),
      ...(editor !== undefined && { text_editor_code_execution: editor }),
    },
  };
}
