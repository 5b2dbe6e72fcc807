/** The part of the composition for hosted tools: it makes calls of the pipeline that it is a part of. */
import type { CallPipeline } from "../../calls/index.ts";
import type { Config } from "../../config/index.ts";
import type { Principal } from "../../auth/index.ts";
import { type Environment, GatewayError } from "../../core/index.ts";
import {
  type ConfiguredTools,
  type HostedSetting,
  HostedTools,
  type HostedToolsOptions,
  type ImageModel,
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
    imageModel: (named, principal) => imageModelIn(named, { models: config.mcp.models, principal, later }),
    findsWorld: config.web.search.backend !== "local",
    deadlineMs: deadline,
  });
}

interface ImageModels extends Pick<HostedOptions, "later"> {
  models: Config["mcp"]["models"];
  principal: Principal;
}

/** The model for images that a request names, with its provider or as OpenAI does without, else the default of the gateway's own tools. */
function imageModelIn(named: string | undefined, { models, principal, later }: ImageModels): ImageModel | undefined {
  const { router } = later().services;
  const withModel = (operation: "image_generation" | "image_edit", model: string | undefined): string | undefined =>
    [...(named === undefined ? [] : [named, `openai/${named}`]), ...(model === undefined ? [] : [model])].find((id) =>
      hasModel(() => router.resolve(id, [operation], principal)),
    );
  const id = withModel("image_generation", models.image);
  if (id === undefined) return undefined;
  const { model } = router.resolve(id, ["image_generation"], principal);
  return { id, model, editId: withModel("image_edit", models.image_edit) };
}

function hasModel(resolve: () => unknown): boolean {
  try {
    resolve();
    return true;
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    return false;
  }
}

/** The settings, with those of a tool by its name alone as whole ones. */
function settingsOf(hosted: Config["tools"]["hosted"]): HostedToolsOptions["hosted"] {
  const { web_search, web_fetch, tool_search, image_generation, ...served } = hosted;
  const { code_interpreter, code_execution, file_search, shell } = served;
  return {
    web_search: { mode: web_search },
    web_fetch: { mode: web_fetch },
    tool_search: { mode: tool_search },
    image_generation: { mode: image_generation },
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
