export { clientSecretRequest, type CreatedClientSecret } from "./create-client-secret.ts";
export { RealtimeSessions } from "./realtime-sessions.ts";
