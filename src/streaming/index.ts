export { readBounded } from "./bounded-reader.ts";
export { dataOf, EventSplitter, eventsOf } from "./event-splitter.ts";
export { type SilenceWatch, watchSilence } from "./silence.ts";
export { Ticker } from "./ticker.ts";
