export { type Frame, type FrameBounds, frameOf, FrameReader } from "./frames.ts";
export { readBounded } from "./bounded-reader.ts";
export { EventSplitter } from "./event-splitter.ts";
export { EVENT_HEADERS, EVENT_STREAM } from "./event-stream.ts";
export { dataOf, endOfEvents, endsWithEvent, eventAround, eventsOf, eventsWith } from "./events.ts";
export { tapEvents } from "./event-tap.ts";
export { MemoryBudget, memoryExhausted, type MemoryShare } from "./memory-budget.ts";
export { Ticker, type Watched } from "./ticker.ts";
export { type ChargedUsage, type StreamObserver, type ReadUsage } from "./stream-observer.ts";
