export { chatDialect, type ChatRequest, chatRequest } from "./chat/index.ts";
export type { CallBound, DialectCodec, ReadUsage, StreamObserver } from "./dialect.ts";
