export { ModelList, type ModelListOptions } from "./model-list.ts";
