export { clientSecretRequest, type CreatedClientSecret } from "./handshake/create-client-secret.ts";
export { RealtimeSessions } from "./realtime-sessions.ts";
