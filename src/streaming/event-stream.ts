/** The media type of server-sent events. */
export const EVENT_STREAM = "text/event-stream";

/** The headers of a stream of events: no proxy may keep it, or gather its events. */
export const EVENT_HEADERS = { "content-type": EVENT_STREAM, "cache-control": "no-cache", "x-accel-buffering": "no" };
