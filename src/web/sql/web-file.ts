import { bothEngines, NO_CHANGE, type StepOfBothEngines } from "../../storage/index.ts";

/** A step of the web's tables, which SQLite has in a file of their own. See `bothEngines`; `more` is for Postgres alone. */
export function inWebFile(webFile: string, bytewise: string, more = ""): StepOfBothEngines & { webFile: string } {
  return { sqlite: NO_CHANGE, webFile, postgres: bothEngines(webFile, bytewise).postgres + more };
}
