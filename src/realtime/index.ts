export { clientSecretRequest, type CreatedClientSecret } from "./handshake/create-client-secret.ts";
export { type ListedRealtimeSession, OpenSessions, openSessionStore, SessionDirectory } from "./open/index.ts";
export { RealtimeSessions } from "./realtime-sessions.ts";
