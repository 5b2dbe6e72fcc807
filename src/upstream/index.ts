export { type ContinuedTurn, SocketAsker } from "./ask-by-socket.ts";
export { BadReply } from "./bad-reply.ts";
export { askByFetch } from "./by-fetch.ts";
export { CertificateError } from "./certificate-error.ts";
export { collectBody, type Collected } from "./collect.ts";
export { StaleConnection } from "./stale-connection.ts";
export { ReplyReader } from "./reply-reader.ts";
export { UpstreamClient, type UpstreamClientOptions } from "./upstream-client.ts";
export { socketOpener } from "./upstream-socket.ts";
