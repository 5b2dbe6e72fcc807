export { Screenshots } from "./screenshots.ts";
