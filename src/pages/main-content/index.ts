export { mainContent, type MainContent } from "./main-content.ts";
export type { PageType } from "./model/model.ts";
