export { originRefusal, type OriginPolicy } from "./admitted-origin.ts";
export {
  capabilitiesKey,
  logLevelKey,
  nameOf,
  sessionRevisions,
  STATELESS,
  takesTasks,
  tasksExtension,
  uiCapability,
  uiExtension,
  versionKey,
} from "./revisions.ts";
export { encodedValue, valueForHeader } from "./header-values.ts";
export { clientHeaders } from "./client-headers.ts";
export { McpEndpoint } from "./endpoint.ts";
export { isLogged, type LogLevel, logLevelOf } from "./log-levels.ts";
export { freshState, type SessionState, type SessionStates } from "./session-states.ts";
export {
  ANSWER_MS_MAX,
  type ClientQuestion,
  type ForwardedAnswer,
  isLate,
  isTooLong,
  Questions,
  type Sealing,
} from "./questions.ts";
export { errorText, RpcError, rpcCodes, type RpcId } from "./json-rpc.ts";
export type {
  ClientInput,
  ServerLog,
  ListKind,
  ServerChange,
  WantedChanges,
  WatchedChanges,
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
