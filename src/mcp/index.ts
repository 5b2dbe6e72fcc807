export { originRefusal, type OriginPolicy } from "./admitted-origin.ts";
export { clientHeaders } from "./client-headers.ts";
export { McpEndpoint } from "./endpoint.ts";
export { errorText, RpcError, rpcCodes, type RpcId } from "./json-rpc.ts";
export type {
  McpServer,
  ToolAnswer,
  ToolCall,
  ToolContent,
  ToolDefinition,
  ToolProgress,
  ToolResult,
  ToolTask,
} from "./server.ts";
