import { ALERT_CHANNELS } from "../accounts/sql/schema.ts";
import { ALERT_NOTICES, ALERTS } from "../alerts/sql/schema.ts";
import { AUDIT } from "../audit/sql/schema.ts";
import * as auth from "../auth/sql/schema.ts";
import { BATCH_SLICES, BATCHES } from "../batches/sql/schema.ts";
import { JOBS } from "../jobs/sql/schema.ts";
import * as ledger from "../ledger/sql/schema.ts";
import { NODE_PORTS, NODES } from "../nodes/sql/schema.ts";
import { BACKGROUND_RESPONSES } from "../objects/background/sql/schema.ts";
import { CONVERSATIONS } from "../objects/conversations/sql/schema.ts";
import { STORED_OBJECTS, UPLOADED_FILES } from "../objects/owners/sql/schema.ts";
import { KEYS_OF_RESPONSES, RESPONSES } from "../objects/responses/sql/schema.ts";
import { KEPT_THOUGHTS } from "../objects/thoughts/sql/schema.ts";
import { PRICE_CATALOG } from "../pricing/sql/schema.ts";
import { REALTIME_SESSIONS } from "../realtime/open/sql/schema.ts";
import { TARGET_STATES } from "../routing/sql/schema.ts";
import { NO_CHANGE, READINESS, type Schema, together } from "../storage/index.ts";
import { TAGS } from "../tags/sql/schema.ts";
import { TOOL_CONNECTIONS } from "../tools/connections/sql/schema.ts";
import { TOOL_MAIL } from "../tools/mail/sql/schema.ts";
import { TOOL_SESSIONS } from "../tools/sessions/sql/schema.ts";
import { TOOL_PINS } from "../tools/pins/sql/schema.ts";
import { VIDEOS } from "../videos/sql/schema.ts";
import { CRAWL_FAILED_POSITIONS, CRAWL_KINDS, CRAWL_RETRIES, CRAWL_TAKE, CRAWLS } from "../web/crawl/sql/schema.ts";
import { moveWebTables, WITHOUT_WEB_TABLES } from "../web/sql/schema.ts";
import { STORED_BYTES } from "../web/stored-bytes/sql/schema.ts";
import { WEB_DOCUMENTS, WEB_FILTERS, WEB_MARKS } from "../web/text-index/sql/schema.ts";
import { WEBHOOK_SECRETS } from "../webhooks/sql/schema.ts";

/** The schema: the steps of all features. A new one is appended; each is numbered by its position among those of its engine. */
export const schema: Schema = {
  beforeSqlite: moveWebTables,
  steps: [
    together(ledger.ACCOUNTS, auth.TOKENS),
    together(ledger.RATES, auth.TOKENS_PER_MINUTE, ledger.RECORDS),
    RESPONSES,
    ledger.KINDS_COMPARED,
    ledger.NUMBERED_RECORDS,
    ledger.RECORDS_IN_ENTRIES,
    // It contained only functions.
    { postgres: NO_CHANGE },
    together(ledger.SERIES, KEYS_OF_RESPONSES, JOBS, ledger.SERIES_OPERATIONS),
    STORED_OBJECTS,
    ledger.CLOSED_DAYS,
    PRICE_CATALOG,
    WEBHOOK_SECRETS,
    VIDEOS,
    UPLOADED_FILES,
    auth.CLIENT_SECRETS,
    STORED_BYTES,
    CRAWLS,
    WEB_DOCUMENTS,
    { postgres: NO_CHANGE },
    CRAWL_RETRIES,
    WEB_MARKS,
    WITHOUT_WEB_TABLES,
    CRAWL_TAKE,
    ledger.PARKED,
    READINESS,
    ledger.REFUNDS,
    ledger.SESSIONS,
    // The next one, and the one of the owners' ids, contained only functions.
    { postgres: NO_CHANGE },
    BACKGROUND_RESPONSES,
    ledger.ATTEMPTS,
    CONVERSATIONS,
    auth.TOOLS_OF_TOKENS,
    TARGET_STATES,
    NODES,
    AUDIT,
    auth.HOLDERS,
    { postgres: NO_CHANGE },
    KEPT_THOUGHTS,
    ALERTS,
    CRAWL_FAILED_POSITIONS,
    together(auth.POLICIES, ledger.LEVELS),
    ledger.BUDGETS,
    { ...auth.IDENTITIES, oldest: ledger.BUDGETS },
    { ...ledger.MOVES, oldest: ledger.BUDGETS },
    { ...NODE_PORTS, oldest: ledger.BUDGETS },
    { ...auth.TOKEN_POLICIES, oldest: ledger.BUDGETS },
    ledger.BUDGETED_COMMITS,
    auth.PROJECTS,
    ledger.CALL_NAMES,
    { ...ledger.BOOK_LISTS, oldest: ledger.CALL_NAMES },
    { ...auth.IMPORTED_KEYS, oldest: ledger.CALL_NAMES },
    ledger.CALL_SUMS,
    { ...REALTIME_SESSIONS, oldest: ledger.CALL_SUMS },
    { ...TAGS, oldest: ledger.CALL_SUMS },
    { ...together(ALERT_CHANNELS, ALERT_NOTICES), oldest: ledger.CALL_SUMS },
    { ...auth.BROWSER_SESSIONS, oldest: ledger.CALL_SUMS },
    ledger.TAG_SUMS,
    { ...TOOL_PINS, oldest: ledger.TAG_SUMS },
    { ...BATCHES, oldest: ledger.TAG_SUMS },
    ledger.LATE_ENTRIES,
    { ...TOOL_CONNECTIONS, oldest: ledger.LATE_ENTRIES },
    // A version without it would call lines that their providers have.
    BATCH_SLICES,
    { ...WEB_FILTERS, oldest: BATCH_SLICES },
    ledger.PARTS,
    { ...TOOL_MAIL, oldest: ledger.PARTS },
    { ...TOOL_SESSIONS, oldest: ledger.PARTS },
    { ...CRAWL_KINDS, oldest: ledger.PARTS },
    // On SQLite an earlier version would count calls without their units. On Postgres triggers count them.
    { sqlite: ledger.UNIT_SUMS.sqlite },
    { postgres: ledger.UNIT_SUMS.postgres, oldest: ledger.PARTS },
  ],
};
