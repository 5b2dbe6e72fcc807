export { messagesTranslation } from "./translation.ts";
