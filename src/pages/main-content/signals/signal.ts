import type { Block } from "../blocks.ts";
import type { PageFacts } from "../page-facts.ts";

/** One number about a block. The model weighs them; none decides on its own. */
export interface Signal {
  readonly name: string;
  readonly of: (block: Block, page: PageFacts) => number;
}

/** One number about a whole page. */
export interface PageSignal {
  readonly name: string;
  readonly of: (page: PageFacts) => number;
}

export function share(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}

export function flag(value: boolean): number {
  return value ? 1 : 0;
}
