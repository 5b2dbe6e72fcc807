/** Bounds that operators don't need to set, each named with its unit. The operator's settings are in `config`. */

/** Levels of brackets in a JSON body. Real tool schemas stay under 30. */
export const jsonDepthMax = 128;

/** Members of a JSON body's outermost object. A request has some dozens. */
export const jsonMembersMax = 1_024;

/**
 * Values in a JSON body, on every level; an empty list counts as two. Parsing a value costs more than reading its bytes.
 * The bodies with the most values are embeddings of token ids, of which OpenAI accepts 300,000.
 */
export const jsonValuesMax = 400_000;

/**
 * Keys in a JSON body, on every level. The parser stores each different key for itself, and messages are objects with
 * keys. The longest conversations and tool schemas have a few thousand.
 */
export const jsonKeysMax = 65_536;

/** Bytes of a JSON body outside of its strings: numbers, words and white space. They are compared one by one. */
export const jsonBareBytesMax = 16 * 1024 * 1024;

/**
 * Bytes of a JSON string that the gateway reads itself, such as a text to be spoken. Decoding a string of escapes takes
 * six milliseconds per megabyte.
 */
export const readStringBytesMax = 1024 * 1024;

/**
 * Bytes of a small body or answer. A larger one is counted in the memory for large ones while it arrives, and a larger
 * body waits for its turn: one of them is decoded at a time.
 */
export const smallBodyBytesMax = 1024 * 1024;

/** Characters of a model id, prefix included. */
export const modelIdCharactersMax = 256;

/** Bytes of a server-sent event that is buffered until it is complete; a longer one is passed on as it arrives. */
export const eventBytesMax = 1024 * 1024;

/** Bytes of the beginning of a stream that wait for its first content; more of them pass without it. */
export const heldStreamBytesMax = 1024 * 1024;

/** Bytes of a server-sent event that must be read as a whole: one to translate, or one that repeats a whole answer. */
export const wholeEventBytesMax = 16 * 1024 * 1024;

/**
 * Bytes of a server-sent event that may hold an image. Providers generate at most 4096 by 4096 pixels; without any
 * compression, at four bytes per pixel, that is 86 MiB of base64. A longer event would be passed on unread, and its
 * stream would count as broken.
 */
export const imageEventBytesMax = 96 * 1024 * 1024;

/** Images of one call that are fetched from their addresses, for a provider that takes images as data alone. */
export const fetchedImagesMax = 10;

/** Bytes of all these images together. Google's requests end at 20 MB in older versions. */
export const fetchedImagesBytesMax = 20 * 1024 * 1024;

/** Milliseconds until they must be there. */
export const imageFetchMsMax = 10_000;

/** Bytes of an upstream's error body that are read. */
export const upstreamErrorBytesMax = 256 * 1024;

/** Bytes of a whole (not streamed) answer. */
export const upstreamAnswerBytesMax = 256 * 1024 * 1024;

/** How long the gateway still waits for the answer of a call, for its usage, after the client disconnected. */
export const drainMsMax = 120_000;

/** Silence on a stream after which a comment line is sent, to keep middleboxes from closing the connection. */
export const keepAliveMs = 15_000;

/** How long an upstream may keep a stream's connection open after the last event. */
export const streamEndMsMax = 1_000;

/** Time after which the sweeper ends a hold whose process stopped renewing it. */
export const holdLeaseMs = 120_000;

/** Characters of an `Idempotency-Key`. */
export const retryKeyCharactersMax = 255;

/** Batches of one user that have not ended; another one gets 429. */
export const openBatchesPerUserMax = 100;

/** Bytes of an answer that is stored for an `Idempotency-Key`. */
export const retryAnswerBytesMax = 4 * 1024 * 1024;

/** How long the answer to a call with an `Idempotency-Key` is stored, counted from the end of the call. */
export const retryAnswerTtlMs = 24 * 3_600_000;

/** How long a response that the gateway stores may be looked up and continued. */
export const responseTtlMs = 30 * 24 * 3_600_000;

/** How long objects of an answer with `store: false` stay their owner's; others as long as a response. */
export const unstoredObjectTtlMs = 24 * 3_600_000;

/** How long a thought is kept for a client that does not return it, counted from its answer. */
export const keptThoughtTtlMs = 24 * 3_600_000;

/** Bytes of a thought that is kept. */
export const keptThoughtBytesMax = 256 * 1024;

/** Calls of one answer under which its thought is kept. */
export const keptThoughtCallsMax = 16;

/** Characters of kept thoughts that one request gets back. */
export const keptThoughtsReadMax = 4 * 1024 * 1024;

/** Characters of the id of a response, or of another object that an upstream stores. */
export const storedIdCharactersMax = 256;

/** Stored objects that a body may refer to: their owners are looked up at once. */
export const objectReferencesMax = 1_000;

/** Objects of one answer whose owner is recorded. */
export const createdObjectsMax = 1_000;

/** Items that an input may reference by id instead of containing them: each one is looked up. */
export const referencedItemsMax = 100;

/** Rounds of a stored conversation that are prepended to its next round. */
export const expandedRoundsMax = 1_000;

/** Bytes of those rounds; the round that exceeds it is the last one. */
export const expandedBytesMax = 16 * 1024 * 1024;

/**
 * Bytes of a body whose response the gateway stores for a provider that stores none. The response to a larger body is not
 * stored, and says so: writing it would block the thread for long.
 */
export const storedRoundBytesMax = 8 * 1024 * 1024;

/** Conversations of one user. */
export const conversationsPerUserMax = 10_000;

/** Items that one request adds to a conversation, as at OpenAI. */
export const conversationItemsMax = 20;

/** How long a response may run in the background, and its hold lives. */
export const backgroundMsMax = 3_600_000;

/** How long the events of a response that ran in the background are kept after its end. */
export const backgroundEventsTtlMs = 10 * 60_000;

/** Bytes of those events; of a response with more, the last event is kept, which has the whole answer. */
export const backgroundEventsBytesMax = 8 * 1024 * 1024;

/** The lease of the job of such a response. Once its process has not renewed it for so long, the response has failed. */
export const backgroundLeaseMs = 60_000;

/** Ledger operations waiting for the next commit; beyond it, new holds are refused with 429. */
export const ledgerQueueMax = 20_000;

/** Operations in one commit; it bounds how long one transaction blocks. */
export const ledgerBatchMax = 2_000;

/** Values of a key of an organisation's tags; calls with others have the value `other`. */
export const tagValuesMax = 1_000;

/** Bytes of the tags of a call as JSON: sums have them in their key, which Postgres bounds. */
export const tagBytesMax = 1_024;

/** Keys of an organisation's tags, and of a token's metadata. */
export const tagKeysMax = 16;

/** Records of ended calls that are summed at a time: SQLite is blocked for a few milliseconds. */
export const usageBatchRows = 2_000;

/** Records of ended calls that are searched at a time, for the same reason. */
export const callBatchRows = 500;

/** Records that are searched for one page of calls; beyond them, the page ends with those found so far. */
export const callPageRowsMax = 20_000;

/** Records that are searched for a call by an id that is not ours. */
export const callSearchRowsMax = 100_000;

/** The summary in an item that stands for a conversation; the longest answer of a model is about half of it. */
export const compactionBytesMax = 1024 * 1024;

/** Days, models or tokens in one answer of the usage route. */
export const usageGroupsMax = 10_000;

/** Bytes of stored answers in one commit. Large answers make a commit slow. */
export const ledgerBatchBytesMax = 4 * 1024 * 1024;

/** Nano-credits of one grant or budget: a billion credits, so that a few of them fit the storage's 64-bit counters. */
export const grantNanoMax = 1_000_000_000_000_000_000n;

/** Nano-credits granted to an account in total: within the storage's 64-bit counters, with room for charges. */
export const accountNanoMax = 9_000_000_000_000_000_000n;

/**
 * Nano-credits that one call holds or costs at most: a million credits. No real call comes near it; a larger figure is
 * an absurd number from a caller or an upstream. Thousands of such calls still fit the storage's 64-bit counters.
 */
export const callNanoMax = 1_000_000_000_000_000n;

/** Bytes of a form that stay in memory; a longer form is written to a temporary file. */
export const formMemoryBytesMax = 1024 * 1024;

/** Parts of a form. */
export const formPartsMax = 1_000;

/** Bytes of the headers of one part. */
export const formHeaderBytesMax = 16 * 1024;

/** Bytes of a form's field that is no file: long prompts are sent in such fields. */
export const formTextBytesMax = 1024 * 1024;

/** Bytes of all these fields and all headers: the part of a form that is in memory regardless of the form's size. */
export const formReadBytesMax = 4 * 1024 * 1024;

/** Uploads of one user under way in one process: each may take its whole size of the disk. */
export const uploadsPerUserMax = 8;

/** How long the place of an upload counts for its user, if its process dies before the upload has ended. */
export const uploadPlaceMs = 3_600_000;

/** Pages of an upstream's list that are read for one page of a caller's own files. */
export const fileListPagesMax = 20;

/** Bytes of the head of an upstream's reply, and of its trailers. Real heads stay under 8 KiB. */
export const replyHeadBytesMax = 64 * 1024;

/** Interim replies (1xx) before a final one. */
export const interimRepliesMax = 16;

/** Bytes of the line with a chunk's size: the size, and extensions, which are ignored. */
export const chunkLineBytesMax = 4 * 1024;

/** Bytes of a reply's body that are buffered until it is read; the remainder waits at the upstream. */
export const unreadReplyBytesMax = 256 * 1024;

/** Idle connections to one upstream. */
export const idleConnectionsMax = 256;

/** How long an idle connection to an upstream is reused, unless the upstream specifies a shorter time. */
export const idleConnectionMsMax = 30_000;

/** Bytes of one message from a client on a WebSocket: the largest audio chunk that providers accept, with a margin. */
export const socketMessageBytesMax = 16 * 1024 * 1024;

/** Bytes queued for a client that doesn't read its WebSocket; beyond it, the connection is closed. */
export const socketQueuedBytesMax = 16 * 1024 * 1024;

/**
 * Bytes that wait in each direction of a realtime session while it must not go on: what a paused socket had sent already, two
 * of the largest messages.
 */
export const withheldBytesMax = 2 * socketMessageBytesMax;

/** Silence after which a WebSocket is closed. Its client is pinged shortly before; a pong ends the silence. */
export const socketIdleMsMax = 120_000;

/** How long the client of a WebSocket may take to answer a ping. One that is in the middle of a message cannot answer. */
export const socketPongMsMax = 30_000;

/** Bytes of a message to a socket on which nothing but pings is expected. */
export const watcherMessageBytesMax = 64 * 1024;

/** Bytes of an operator's price catalog. The built-in one has a quarter of a megabyte. */
export const priceCatalogBytesMax = 16 * 1024 * 1024;

/** How long an operator's price catalog may take to arrive. */
export const priceCatalogMsMax = 10_000;

/** Characters of a URL that a caller chooses for the gateway's own requests. */
export const outboundUrlCharactersMax = 2_048;

/** Addresses of one host that are tried one after the other. */
export const outboundAddressesMax = 4;

/** Bytes of a webhook's body. */
export const webhookBodyBytesMax = 256 * 1024;

/** Bytes of an upstream's answer about a video job: texts and addresses. Videos themselves are streamed. */
export const videoAnswerBytesMax = 256 * 1024;

/**
 * The lease of a video job whose upstream has not answered to its creation yet. It is renewed every quarter; once it has run
 * out, any process takes the job for lost.
 */
export const videoLeaseMs = 60_000;

/** How long the record of a video job is kept after its end. */
export const videoTtlMs = 30 * 24 * 3_600_000;

/**
 * The priority of work beside the answers to callers, as of nice(1): on Linux the gateway's thread, when it wakes up to
 * answer, mostly interrupts work of 10, and waits for the end of a time slice of 5. Work of 19 would stand still while
 * other processes need all cores. A process whose start takes long gets it once it has started.
 */
export const backgroundNiceness = 10;
