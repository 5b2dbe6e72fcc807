export { ModelList } from "./model-list.ts";
