/** Bounds that no operator needs to set. Named with their unit; what an operator sets is in `config`. */

/** Levels of brackets in a JSON body. Real tool schemas stay under 30. */
export const jsonDepthMax = 128;

/** Characters of a model id, prefix included. */
export const modelIdCharactersMax = 256;

/** Bytes of one server-sent event that is held back until it is whole; a longer one is passed on as it comes. */
export const eventBytesMax = 1024 * 1024;

/** Bytes of one server-sent event of which all must be read: one that is translated, or that repeats a whole answer. */
export const wholeEventBytesMax = 16 * 1024 * 1024;

/**
 * Bytes of one server-sent event that may hold an image. No provider makes one of more than 4096 by 4096 pixels; not
 * compressed at all, with four bytes a pixel, that is 86 MiB of base64. A longer event would pass unread, and its stream be
 * taken for a broken one.
 */
export const imageEventBytesMax = 96 * 1024 * 1024;

/** Bytes kept of an upstream's error body. */
export const upstreamErrorBytesMax = 256 * 1024;

/** Bytes of a whole (not streamed) answer. */
export const upstreamAnswerBytesMax = 256 * 1024 * 1024;

/** How long the answer of a call is still awaited, for its usage, after its client went away. */
export const drainMsMax = 120_000;

/** Silence on a stream after which a comment line keeps middleboxes from cutting it. */
export const keepAliveMs = 15_000;

/** How long an upstream may keep a stream's connection open after the last event. */
export const streamEndMsMax = 1_000;

/** A hold whose process stopped renewing it is ended by the sweeper after this. */
export const holdLeaseMs = 120_000;

/** Characters of an `Idempotency-Key`. */
export const retryKeyCharactersMax = 255;

/** Bytes of an answer that is kept for an `Idempotency-Key`. */
export const retryAnswerBytesMax = 4 * 1024 * 1024;

/** How long the answer to a call with an `Idempotency-Key` is kept, counted from the end of the call. */
export const retryAnswerTtlMs = 24 * 3_600_000;

/** How long a response may be looked up and continued, where we keep it. */
export const responseTtlMs = 30 * 24 * 3_600_000;

/** Characters of a response's id. */
export const responseIdCharactersMax = 256;

/** Items that an input may name instead of saying them: each is looked up. */
export const referencedItemsMax = 100;

/** Rounds of a conversation that are put in front of its next one. */
export const expandedRoundsMax = 1_000;

/** Bytes of those rounds; the round that goes beyond is the last. */
export const expandedBytesMax = 64 * 1024 * 1024;

/** Ledger operations waiting for the next commit; beyond it new holds are refused with 429. */
export const ledgerQueueMax = 20_000;

/** Operations in one commit: bounds how long one transaction blocks. */
export const ledgerBatchMax = 2_000;

/** Rows of ended calls that are summed at a time: a few milliseconds, in which SQLite does nothing else. */
export const usagePageRows = 2_000;

/** Days, models or tokens in one answer about usage. */
export const usageGroupsMax = 10_000;

/** Bytes of answers in one commit; they are what makes one slow. */
export const ledgerBatchBytesMax = 4 * 1024 * 1024;

/** Nano-credits of one grant or budget: a billion credits, so that a few of them fit the storage's 64-bit counters. */
export const grantNanoMax = 1_000_000_000_000_000_000n;

/** Nano-credits that an account is ever granted: within the storage's 64-bit counters, with room for what is charged. */
export const accountNanoMax = 9_000_000_000_000_000_000n;

/**
 * Nano-credits that one call sets aside or costs at most: a million credits. No real call comes near; a larger figure
 * is a caller's or an upstream's absurd number, and thousands of such calls still fit the storage's 64-bit counters.
 */
export const callNanoMax = 1_000_000_000_000_000n;

/** Bytes of a form that stay in memory; a longer one is kept in a temporary file. */
export const formMemoryBytesMax = 1024 * 1024;

/** Parts of a form. */
export const formPartsMax = 1_000;

/** Bytes of the headers of one part. */
export const formHeaderBytesMax = 16 * 1024;

/** Bytes of a field of a form that is no file: long prompts are sent in one. */
export const formTextBytesMax = 1024 * 1024;

/** Bytes of all these fields and of all headers: what of a form is in memory however long it is. */
export const formReadBytesMax = 4 * 1024 * 1024;

/** Bytes of the head of an upstream's reply, and of its trailers. Real heads stay under 8 KiB. */
export const replyHeadBytesMax = 64 * 1024;

/** Interim replies (1xx) in front of one. */
export const interimRepliesMax = 16;

/** Bytes of a line that gives a chunk's size: the size, and extensions that nobody reads. */
export const chunkLineBytesMax = 4 * 1024;

/** Bytes of a reply's body that are kept for a reader who has not come yet; the rest waits at the upstream. */
export const unreadReplyBytesMax = 256 * 1024;

/** Idle connections that are kept to one upstream. */
export const idleConnectionsMax = 256;

/** How long a connection to an upstream is kept idle, where the upstream names no shorter time. */
export const idleConnectionMsMax = 30_000;

/** Bytes of one message from a client on a WebSocket: the largest piece of sound that providers take, with some room. */
export const socketMessageBytesMax = 16 * 1024 * 1024;

/** Bytes that wait for a client who doesn't read its WebSocket; beyond it the connection is closed. */
export const socketQueuedBytesMax = 16 * 1024 * 1024;

/** Silence on a WebSocket after which it is closed. Its client is pinged shortly before; a pong ends the silence. */
export const socketIdleMsMax = 120_000;
