export { addModelsCommand } from "./list.ts";
