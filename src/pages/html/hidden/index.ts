export { dropHidden } from "./drop-hidden.ts";
