export { cleanObject } from "./clean-result.ts";
export { McpClient } from "./client/mcp-client.ts";
export type { ToolTarget } from "./tool-call.ts";
export { type ToolDoor, ToolGateway, type ToolSeeker, type ToolSet } from "./tool-gateway.ts";
export { OpenApiServer } from "./openapi/openapi-server.ts";
export { mayCall } from "./may-call.ts";
export { checkHeaderMembers, withHeaderMembers } from "./header-members.ts";
export { RecentMap } from "./recent-map.ts";
export type { AccessTo, ServerAccess, ToolCaller, ToolSource } from "./server-access.ts";
export { watchMembers } from "./changes/watch-members.ts";
export { relay } from "./relay/relay.ts";
export { askableIn } from "./relay/client-questions.ts";
export { isTask, readTask } from "./relay/server-tasks.ts";
export { ServerError } from "./client/server-answer.ts";
export { refusalIn, ToolServer } from "./tool-server.ts";
export { isQuestion } from "./relay/client-questions.ts";
export { UrlServers } from "./url-servers.ts";
export { RequestStates } from "./relay/request-states.ts";
export {
  type AskedCall,
  type CallEnd,
  type CallOwner,
  InterruptedCalls,
  type CallStep,
} from "./relay/interrupted-calls.ts";
export { StoredSessionStates } from "./sessions/stored-states.ts";
export { ENDED_STATE } from "./sessions/store.ts";
export { openSessionStateStore } from "./sessions/sql/open.ts";
export { ProcessMail } from "./mail/process-mail.ts";
export { openLetterStore } from "./mail/sql/open.ts";
export { secretForms, secretsIn } from "./clean-result.ts";
export { askHost, hostedUrl } from "./processes/ask-host.ts";
export type { HostAddress, ServerPlan } from "./processes/plan.ts";
export { ToolIndex } from "./search/sql/tool-index.ts";
export { ToolHost } from "./processes/tool-host.ts";
export { openPinStore } from "./pins/sql/open.ts";
export type { PinnedTool } from "./pins/store.ts";
export { approveTools, changeHash, ToolPins } from "./pins/tool-pins.ts";
export { type ToolConnection, DEFAULT_ACCOUNT } from "./connections/connection.ts";
export { type ConnectingOptions, Connections } from "./connections/connections.ts";
export { namedAccounts } from "./connections/named-accounts.ts";
export { openConnectionStore } from "./connections/sql/open.ts";
export { ConnectionRequiredError, HeaderCredentials, UserAccess } from "./connections/user-access.ts";
export { OAuthCredentials } from "./connections/oauth-credentials.ts";
export type { OAuthGrant } from "./oauth/grant.ts";
export { loadSignIns } from "./oauth/load.ts";
export type { OAuthServerOptions } from "./oauth/oauth-server.ts";
export { CLIENT_METADATA_PATH, clientMetadata, redirectUri } from "./oauth/registration.ts";
export { registrationsAt } from "./oauth/registrations.ts";
export type { ConnectionSignIns, PermitConnection } from "./oauth/sign-ins.ts";
export { ExchangeAccess, type ExchangedToken } from "./connections/exchange-access.ts";
export type { TokenExchangeOptions } from "./oauth/token-exchange.ts";
