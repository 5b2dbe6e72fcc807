export { readBounded } from "./bounded-reader.ts";
export { dataOf, EventSplitter, eventsOf } from "./event-splitter.ts";
export { Ticker, type Watched } from "./ticker.ts";
