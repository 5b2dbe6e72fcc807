export { cleanObject } from "./clean-result.ts";
export { McpClient } from "./mcp-client.ts";
export type { ToolTarget } from "./tool-call.ts";
export { type ToolDoor, ToolGateway, type ToolSet } from "./tool-gateway.ts";
export { allows, ToolServer } from "./tool-server.ts";
export { askHost, hostedUrl } from "./processes/ask-host.ts";
export type { ServerPlan } from "./processes/plan.ts";
export { ToolHost } from "./processes/tool-host.ts";
