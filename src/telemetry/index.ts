export { createLogger, type Logger, type ServerLogger } from "./logger.ts";
