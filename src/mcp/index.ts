export { originRefusal, type OriginPolicy } from "./admitted-origin.ts";
export { capabilitiesKey, nameOf, sessionRevisions, STATELESS, tasksExtension, versionKey } from "./revisions.ts";
export { valueForHeader } from "./header-values.ts";
export { clientHeaders } from "./client-headers.ts";
export { McpEndpoint } from "./endpoint.ts";
export { type ClientQuestion, type ForwardedAnswer, Questions, type Sealing } from "./questions.ts";
export { errorText, RpcError, rpcCodes, type RpcId } from "./json-rpc.ts";
export type {
  ClientInput,
  McpServer,
  TaskRequest,
  ToolAnswer,
  ToolCall,
  ToolContent,
  ToolDefinition,
  ToolListing,
  ToolProgress,
  ToolResult,
  ToolTask,
} from "./server.ts";
