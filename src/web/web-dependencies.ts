import type { Browser } from "../browser/index.ts";
import type { WorkShell } from "../charges/index.ts";
import type { Environment } from "../core/index.ts";
import type { ModelPrice } from "../pricing/index.ts";
import type { Logger } from "../telemetry/index.ts";
import type { FileReader, WebEngine } from "./engine.ts";
import type { WebModel } from "./model.ts";
import type { SearchBackend } from "./search/backend.ts";

/** What paid work on the web needs. */
export interface WebDependencies {
  engine: WebEngine;
  /** What reads sent files, with its own name and price. */
  files: Pick<WebDependencies, "engineName" | "price"> & { reader: FileReader };
  /** Undefined if the configuration names none. */
  model: WebModel | undefined;
  /** What finds pages. */
  search: SearchBackend;
  /** The engine's name, which the records of its work have as their model. */
  engineName: string;
  price: ModelPrice;
  shell: WorkShell;
  environment: Environment;
  logger: Logger;
}

export type PageRenderer = Pick<Browser, "available" | "render">;
