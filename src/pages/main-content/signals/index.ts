import { groupSignals } from "./group-signals.ts";
import { neighbourSignals } from "./neighbour-signals.ts";
import { pageSignals } from "./page-signals.ts";
import { placeSignals } from "./place-signals.ts";
import { regionSignals } from "./region-signals.ts";
import type { Signal } from "./signal.ts";
import { tagSignals } from "./tag-signals.ts";
import { textSignals } from "./text-signals.ts";

/** Everything that is computed about a block. The model refers to signals by name. */
export const blockSignals: readonly Signal[] = [
  ...textSignals,
  ...tagSignals,
  ...placeSignals,
  ...regionSignals,
  ...groupSignals,
  ...neighbourSignals,
  ...pageSignals,
];

export { pageTypeSignals } from "./page-type-signals.ts";
export type { Signal } from "./signal.ts";
