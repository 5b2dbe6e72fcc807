export { OpenSessions } from "./open-sessions.ts";
export { SessionDirectory } from "./session-directory.ts";
export { openSessionStore } from "./sql/open.ts";
export type { ListedRealtimeSession } from "./store.ts";
