export { genAiNames } from "./genai-names.ts";
export { TraceObserver } from "./trace-observer.ts";
