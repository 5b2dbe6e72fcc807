/** The part of the configuration for tools of models that the gateway runs. */
import { z } from "zod";
import { allows } from "../core/index.ts";
import type { mcp } from "./mcp.ts";
import { fromText } from "./values/from-text.ts";
import { duration as time } from "./values/units.ts";

const mode = z.enum(["auto", "native", "gateway", "off"]).prefault("auto");

const servedTool = z.string().regex(/^[a-z0-9-]{1,32}__[^\s]{1,200}$/, "server__tool, with a server of mcp.servers");

/** A tool of a configured server for one that the gateway does not have itself. */
const served = {
  tool: servedTool.describe("The tool of a server that runs it: server__tool."),
  mode: z
    .enum(["auto", "gateway"])
    .prefault("auto")
    .describe("auto: that tool where the provider has none with a known price; gateway: always that tool."),
};

const ownOrServed = z.union([z.enum(["native", "off"]), servedTool, z.strictObject(served)]).prefault("native");

export const tools = z
  .strictObject({
    hosted: z
      .strictObject({
        web_search: mode.describe(
          "Who runs web_search of Responses, web_search_* of Messages and web_search_options of chat. auto: the provider if it has the tool and its price is known, else the gateway, with web.search, if that is not local; native, gateway: that one alone; off: nobody.",
        ),
        web_fetch: mode.describe("The same for web_fetch_* of Messages, whose pages the gateway reads as scrapes."),
        tool_search: mode.describe(
          "Who searches among the tools that a request defers, for tool_search of Responses and tool_search_tool_* of Messages. off: nobody, and no tool is deferred.",
        ),
        code_interpreter: ownOrServed.describe(
          "Who runs code_interpreter of Responses: the tool server__tool of mcp.servers, which gets the code, where the provider has none (or { tool, mode: gateway }: always); native: the provider alone; off: nobody.",
        ),
        code_execution: z
          .union([
            z.enum(["native", "off"]),
            servedTool,
            z.strictObject({
              ...served,
              tool: served.tool.optional(),
              bash: servedTool.optional().describe("The tool that gets the commands of bash_code_execution."),
              text_editor: servedTool
                .optional()
                .describe("The tool that gets the arguments of text_editor_code_execution."),
            }),
          ])
          .prefault("native")
          .describe("The same for code_execution_* of Messages."),
        file_search: ownOrServed.describe("The same for file_search of Responses; the tool gets the queries."),
        shell: ownOrServed.describe(
          "The same for shell of Responses in a container; the tool gets the commands. The client's own shell stays the client's.",
        ),
        image_generation: mode.describe(
          "Who runs image_generation of Responses: the provider, or the gateway with the model that the tool names or mcp.models.image; modes as for web_search.",
        ),
      })
      .prefault({})
      .describe("Tools that clients expect the provider to run."),
    deadline: fromText(time)
      .prefault("10m")
      .describe("How long the tools of one answer may be called; then the model has to answer."),
  })
  .prefault({})
  .describe("Tools of models that the gateway runs for providers without them.");

interface ToolParts {
  mcp: Pick<z.output<typeof mcp>, "servers">;
  tools: Pick<z.output<typeof tools>, "hosted">;
}

/** Hosted tools must be tools that servers of the configuration can offer. */
export function refuseUnknownTools({ mcp: { servers }, tools: { hosted } }: ToolParts, context: z.RefinementCtx): void {
  const refuse = (path: readonly string[], message: string): void =>
    context.addIssue({ code: "custom", path: ["tools", "hosted", ...path], message });
  for (const [kind, setting] of Object.entries(hosted)) {
    const named: [string, string | undefined][] =
      typeof setting === "string" ? [["", setting]] : Object.entries(setting);
    if (typeof setting !== "string" && !named.some(([, name]) => name?.includes("__") === true))
      refuse([kind], "name a tool: server__tool");
    for (const [member, name] of named) {
      const [server = "", tool] = (name ?? "").split(/__(.*)/s, 2);
      if (tool === undefined) continue;
      const path = member === "" ? [kind] : [kind, member];
      const globs = servers[server]?.tools;
      if (servers[server] === undefined) refuse(path, `there is no server "${server}"`);
      else if (globs !== undefined && !allows(globs, tool)) refuse(path, `the server does not offer "${tool}"`);
    }
  }
}
