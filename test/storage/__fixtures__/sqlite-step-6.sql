-- A dump of a database of the version whose schema ended with step 6; before-jobs.json is what that version read from it.
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE accounts (
    id              TEXT PRIMARY KEY,
    kind            TEXT NOT NULL CHECK (kind IN ('token', 'user', 'organisation')),
    name            TEXT NOT NULL,
    parent_id       TEXT REFERENCES accounts (id),
    prepaid         INTEGER NOT NULL CHECK (prepaid IN (0, 1)),
    max_budget      INTEGER CHECK (max_budget >= 0),
    period          TEXT CHECK (period IN ('daily', 'monthly')),
    credits_posted  INTEGER NOT NULL DEFAULT 0,
    debits_posted   INTEGER NOT NULL DEFAULT 0 CHECK (debits_posted >= 0),
    debits_pending  INTEGER NOT NULL DEFAULT 0 CHECK (debits_pending >= 0),
    period_start    INTEGER NOT NULL DEFAULT 0,
    period_debits   INTEGER NOT NULL DEFAULT 0 CHECK (period_debits >= 0),
    created_at      INTEGER NOT NULL
  , minute_began INTEGER NOT NULL DEFAULT 0, minute_requests INTEGER NOT NULL DEFAULT 0, minute_tokens INTEGER NOT NULL DEFAULT 0, open_calls INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;
INSERT INTO accounts VALUES('organisation:acme','organisation','acme',NULL,0,50000,'monthly',0,8636,440,1793491200000,8636,1795348800000,0,0,0,0);
INSERT INTO accounts VALUES('token:ann-1','token','ann-1','user:ann',0,9000,'daily',0,251,350,1795305600000,251,1795348800000,1795349400000,3,380,3);
INSERT INTO accounts VALUES('token:ann-2','token','ann-2','user:ann',0,NULL,NULL,0,8385,90,0,8385,1795348800000,1795349400004,1,40,1);
INSERT INTO accounts VALUES('token:ben-1','token','ben-1','user:ben',0,NULL,NULL,0,500,0,0,500,1795348800000,1795348800000,2,40,0);
INSERT INTO accounts VALUES('token:robot','token','robot',NULL,0,NULL,NULL,0,44,70,0,44,1795348800000,1795349400003,1,40,1);
INSERT INTO accounts VALUES('user:ann','user','ann','organisation:acme',1,NULL,NULL,20000,8636,440,0,8636,1795348800000,0,0,0,0);
INSERT INTO accounts VALUES('user:ben','user','ben',NULL,1,NULL,NULL,500,500,0,0,500,1795348800000,0,0,0,0);
CREATE TABLE holds (
    id           TEXT PRIMARY KEY,
    account_id   TEXT NOT NULL,
    amount       INTEGER NOT NULL CHECK (amount >= 0),
    purpose      TEXT NOT NULL,
    observed     INTEGER CHECK (observed >= 0),
    lease_until  INTEGER NOT NULL,
    created_at   INTEGER NOT NULL
  , tokens INTEGER NOT NULL DEFAULT 0, retry_key TEXT) STRICT, WITHOUT ROWID;
INSERT INTO holds VALUES('open-claim','token:ann-1',50,'chat claude/some-model',NULL,1795349520000,1795349400002,40,'running');
INSERT INTO holds VALUES('open-observed','token:ann-1',200,'chat claude/some-model',150,1795349580000,1795349400001,300,NULL);
INSERT INTO holds VALUES('open-plain','token:ann-1',100,'chat claude/some-model',NULL,1795349520000,1795349400000,40,NULL);
INSERT INTO holds VALUES('open-raised','token:ann-2',90,'chat claude/some-model',NULL,1795349520000,1795349400004,40,NULL);
INSERT INTO holds VALUES('open-robot','token:robot',70,'chat openai/o''del',NULL,1795349520000,1795349400003,40,NULL);
CREATE TABLE tokens (
    id           TEXT PRIMARY KEY,
    secret_hash  BLOB NOT NULL,
    user_name    TEXT NOT NULL,
    account_id   TEXT NOT NULL REFERENCES accounts (id),
    service      INTEGER NOT NULL CHECK (service IN (0, 1)),
    admin        INTEGER NOT NULL CHECK (admin IN (0, 1)),
    models       TEXT,
    rpm          INTEGER,
    concurrency  INTEGER,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    created_at   INTEGER NOT NULL
  , tpm INTEGER) STRICT, WITHOUT ROWID;
INSERT INTO tokens VALUES('ann-1',X'0505050505050505050505050505050505050505050505050505050505050505','ann','token:ann-1',0,0,'openai/*,claude/?',60,9,NULL,NULL,1795348800000,9000);
INSERT INTO tokens VALUES('ann-2',X'0505050505050505050505050505050505050505050505050505050505050505','ann','token:ann-2',0,0,NULL,NULL,NULL,1796348800000,1795348800005,1795348800000,NULL);
INSERT INTO tokens VALUES('ben-1',X'0505050505050505050505050505050505050505050505050505050505050505','ben','token:ben-1',0,1,NULL,NULL,NULL,NULL,NULL,1795348800000,NULL);
INSERT INTO tokens VALUES('robot',X'0505050505050505050505050505050505050505050505050505050505050505','machine','token:robot',1,0,NULL,NULL,NULL,NULL,NULL,1795348800000,NULL);
CREATE TABLE retry_keys (
    account_id   TEXT NOT NULL,
    key          TEXT NOT NULL,
    fingerprint  TEXT NOT NULL,
    hold_id      TEXT NOT NULL,
    status       INTEGER,
    headers      TEXT,
    body         BLOB,
    kept_until   INTEGER NOT NULL,
    PRIMARY KEY (account_id, key)
  ) STRICT;
INSERT INTO retry_keys VALUES('token:ann-1','answered','of answered','answered',200,'[["content-type","application/json"],["x-odd","Ω '' \\ \""]]',X'0001275cff',1795435200007);
INSERT INTO retry_keys VALUES('token:ann-1','running','of running','open-claim',NULL,NULL,NULL,1795435800002);
CREATE TABLE responses (
    id           TEXT NOT NULL,
    owner        TEXT NOT NULL,
    provider     TEXT NOT NULL,
    model        TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    kept_until   INTEGER NOT NULL,
    previous_id  TEXT,
    input        TEXT,
    response     TEXT,
    PRIMARY KEY (id, owner)
  ) STRICT;
INSERT INTO responses VALUES('resp_first','ann','openai','m',1795348800000,1796348800000,NULL,'[{"said":"Ω '' \\ \n"}]','{"id":"resp_first"}');
INSERT INTO responses VALUES('resp_second','ann','openai','m',1795348800001,1796348800000,'resp_first','[]','{}');
INSERT INTO responses VALUES('resp_upstream','ben','openai','m',1795348800002,1796348800000,NULL,NULL,NULL);
CREATE TABLE entries (
    number          INTEGER PRIMARY KEY,
    id              TEXT NOT NULL UNIQUE,
    kind            TEXT NOT NULL CHECK (kind = 'settle' OR kind = 'release' OR kind = 'expire' OR kind = 'grant'),
    debit_account   TEXT NOT NULL,
    credit_account  TEXT NOT NULL,
    amount          INTEGER NOT NULL CHECK (amount >= 0),
    held            INTEGER NOT NULL CHECK (held >= 0),
    shortfall       INTEGER NOT NULL CHECK (shortfall >= 0),
    created_at      INTEGER NOT NULL,
    -- Of the call that it ended. Counts and names only.
    owner           TEXT, -- the user; null where it ended none
    operation       TEXT,
    dialect         TEXT,
    provider        TEXT,
    model           TEXT,
    streamed        INTEGER,
    status          INTEGER,
    outcome         TEXT, -- of the call, or 'expired' where its process died
    usage           TEXT, -- counts by bucket, as JSON
    input_tokens    INTEGER,
    output_tokens   INTEGER,
    ms              REAL,
    first_byte_ms   REAL,
    started_at      INTEGER,
    credits         INTEGER, -- what the call cost in all, where a late end has made that another amount
    CHECK (owner IS NULL OR (operation IS NOT NULL AND provider IS NOT NULL AND model IS NOT NULL AND streamed IS NOT NULL
      AND status IS NOT NULL AND outcome IS NOT NULL AND usage IS NOT NULL AND input_tokens IS NOT NULL
      AND output_tokens IS NOT NULL AND ms IS NOT NULL AND started_at IS NOT NULL))
  ) STRICT;
INSERT INTO entries VALUES(1,'grant-ann','grant','bank','user:ann',20000,0,0,1795348800000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO entries VALUES(2,'grant-ben','grant','bank','user:ben',500,0,0,1795348800000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO entries VALUES(3,'many-000','settle','token:ann-2','revenue',0,20,0,1795348800000,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348800000,NULL);
INSERT INTO entries VALUES(4,'many-001','settle','token:ann-2','revenue',1,20,0,1795348800001,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799999,NULL);
INSERT INTO entries VALUES(5,'many-002','settle','token:ann-2','revenue',2,20,0,1795348800002,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799998,NULL);
INSERT INTO entries VALUES(6,'many-003','settle','token:ann-2','revenue',3,20,0,1795348800003,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799997,NULL);
INSERT INTO entries VALUES(7,'many-004','settle','token:ann-2','revenue',4,20,0,1795348800004,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799996,NULL);
INSERT INTO entries VALUES(8,'many-005','settle','token:ann-2','revenue',5,20,0,1795348800005,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799995,NULL);
INSERT INTO entries VALUES(9,'many-006','settle','token:ann-2','revenue',6,20,0,1795348800006,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799994,NULL);
INSERT INTO entries VALUES(10,'many-007','settle','token:ann-2','revenue',7,20,0,1795348800007,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799993,NULL);
INSERT INTO entries VALUES(11,'many-008','settle','token:ann-2','revenue',8,20,0,1795348800008,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799992,NULL);
INSERT INTO entries VALUES(12,'many-009','settle','token:ann-2','revenue',9,20,0,1795348800009,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799991,NULL);
INSERT INTO entries VALUES(13,'many-010','settle','token:ann-2','revenue',10,20,0,1795348800010,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799990,NULL);
INSERT INTO entries VALUES(14,'many-011','settle','token:ann-2','revenue',11,20,0,1795348800011,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799989,NULL);
INSERT INTO entries VALUES(15,'many-012','settle','token:ann-2','revenue',12,20,0,1795348800012,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799988,NULL);
INSERT INTO entries VALUES(16,'many-013','settle','token:ann-2','revenue',13,20,0,1795348800013,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799987,NULL);
INSERT INTO entries VALUES(17,'many-014','settle','token:ann-2','revenue',14,20,0,1795348800014,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799986,NULL);
INSERT INTO entries VALUES(18,'many-015','settle','token:ann-2','revenue',15,20,0,1795348800015,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799985,NULL);
INSERT INTO entries VALUES(19,'many-016','settle','token:ann-2','revenue',16,20,0,1795348800016,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799984,NULL);
INSERT INTO entries VALUES(20,'many-017','settle','token:ann-2','revenue',17,20,0,1795348800017,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799983,NULL);
INSERT INTO entries VALUES(21,'many-018','settle','token:ann-2','revenue',18,20,0,1795348800018,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799982,NULL);
INSERT INTO entries VALUES(22,'many-019','settle','token:ann-2','revenue',19,20,0,1795348800019,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799981,NULL);
INSERT INTO entries VALUES(23,'many-020','settle','token:ann-2','revenue',20,20,0,1795348800020,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799980,NULL);
INSERT INTO entries VALUES(24,'many-021','settle','token:ann-2','revenue',21,20,0,1795348800021,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799979,NULL);
INSERT INTO entries VALUES(25,'many-022','settle','token:ann-2','revenue',22,20,0,1795348800022,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799978,NULL);
INSERT INTO entries VALUES(26,'many-023','settle','token:ann-2','revenue',23,20,0,1795348800023,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799977,NULL);
INSERT INTO entries VALUES(27,'many-024','settle','token:ann-2','revenue',24,20,0,1795348800024,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799976,NULL);
INSERT INTO entries VALUES(28,'many-025','settle','token:ann-2','revenue',25,20,0,1795348800025,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795348799975,NULL);
INSERT INTO entries VALUES(29,'many-026','settle','token:ann-2','revenue',26,20,0,1795348800000,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347240000,NULL);
INSERT INTO entries VALUES(30,'many-027','settle','token:ann-2','revenue',27,20,0,1795348800001,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239999,NULL);
INSERT INTO entries VALUES(31,'many-028','settle','token:ann-2','revenue',28,20,0,1795348800002,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239998,NULL);
INSERT INTO entries VALUES(32,'many-029','settle','token:ann-2','revenue',29,20,0,1795348800003,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239997,NULL);
INSERT INTO entries VALUES(33,'many-030','settle','token:ann-2','revenue',30,20,0,1795348800004,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239996,NULL);
INSERT INTO entries VALUES(34,'many-031','settle','token:ann-2','revenue',31,20,0,1795348800005,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239995,NULL);
INSERT INTO entries VALUES(35,'many-032','settle','token:ann-2','revenue',32,20,0,1795348800006,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239994,NULL);
INSERT INTO entries VALUES(36,'many-033','settle','token:ann-2','revenue',33,20,0,1795348800007,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239993,NULL);
INSERT INTO entries VALUES(37,'many-034','settle','token:ann-2','revenue',34,20,0,1795348800008,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239992,NULL);
INSERT INTO entries VALUES(38,'many-035','settle','token:ann-2','revenue',35,20,0,1795348800009,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239991,NULL);
INSERT INTO entries VALUES(39,'many-036','settle','token:ann-2','revenue',36,20,0,1795348800010,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239990,NULL);
INSERT INTO entries VALUES(40,'many-037','settle','token:ann-2','revenue',37,20,0,1795348800011,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239989,NULL);
INSERT INTO entries VALUES(41,'many-038','settle','token:ann-2','revenue',38,20,0,1795348800012,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239988,NULL);
INSERT INTO entries VALUES(42,'many-039','settle','token:ann-2','revenue',39,20,0,1795348800013,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239987,NULL);
INSERT INTO entries VALUES(43,'many-040','settle','token:ann-2','revenue',40,20,0,1795348800014,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239986,NULL);
INSERT INTO entries VALUES(44,'many-041','settle','token:ann-2','revenue',41,20,0,1795348800015,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239985,NULL);
INSERT INTO entries VALUES(45,'many-042','settle','token:ann-2','revenue',42,20,0,1795348800016,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239984,NULL);
INSERT INTO entries VALUES(46,'many-043','settle','token:ann-2','revenue',43,20,0,1795348800017,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239983,NULL);
INSERT INTO entries VALUES(47,'many-044','settle','token:ann-2','revenue',44,20,0,1795348800018,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239982,NULL);
INSERT INTO entries VALUES(48,'many-045','settle','token:ann-2','revenue',45,20,0,1795348800019,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239981,NULL);
INSERT INTO entries VALUES(49,'many-046','settle','token:ann-2','revenue',46,20,0,1795348800020,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239980,NULL);
INSERT INTO entries VALUES(50,'many-047','settle','token:ann-2','revenue',47,20,0,1795348800021,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239979,NULL);
INSERT INTO entries VALUES(51,'many-048','settle','token:ann-2','revenue',48,20,0,1795348800022,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239978,NULL);
INSERT INTO entries VALUES(52,'many-049','settle','token:ann-2','revenue',49,20,0,1795348800023,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239977,NULL);
INSERT INTO entries VALUES(53,'many-050','settle','token:ann-2','revenue',50,20,0,1795348800024,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239976,NULL);
INSERT INTO entries VALUES(54,'many-051','settle','token:ann-2','revenue',51,20,0,1795348800025,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795347239975,NULL);
INSERT INTO entries VALUES(55,'many-052','settle','token:ann-2','revenue',52,20,0,1795348800000,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345680000,NULL);
INSERT INTO entries VALUES(56,'many-053','settle','token:ann-2','revenue',53,20,0,1795348800001,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679999,NULL);
INSERT INTO entries VALUES(57,'many-054','settle','token:ann-2','revenue',54,20,0,1795348800002,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679998,NULL);
INSERT INTO entries VALUES(58,'many-055','settle','token:ann-2','revenue',55,20,0,1795348800003,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679997,NULL);
INSERT INTO entries VALUES(59,'many-056','settle','token:ann-2','revenue',56,20,0,1795348800004,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679996,NULL);
INSERT INTO entries VALUES(60,'many-057','settle','token:ann-2','revenue',57,20,0,1795348800005,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679995,NULL);
INSERT INTO entries VALUES(61,'many-058','settle','token:ann-2','revenue',58,20,0,1795348800006,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679994,NULL);
INSERT INTO entries VALUES(62,'many-059','settle','token:ann-2','revenue',59,20,0,1795348800007,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679993,NULL);
INSERT INTO entries VALUES(63,'many-060','settle','token:ann-2','revenue',60,20,0,1795348800008,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679992,NULL);
INSERT INTO entries VALUES(64,'many-061','settle','token:ann-2','revenue',61,20,0,1795348800009,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679991,NULL);
INSERT INTO entries VALUES(65,'many-062','settle','token:ann-2','revenue',62,20,0,1795348800010,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679990,NULL);
INSERT INTO entries VALUES(66,'many-063','settle','token:ann-2','revenue',63,20,0,1795348800011,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679989,NULL);
INSERT INTO entries VALUES(67,'many-064','settle','token:ann-2','revenue',64,20,0,1795348800012,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679988,NULL);
INSERT INTO entries VALUES(68,'many-065','settle','token:ann-2','revenue',65,20,0,1795348800013,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679987,NULL);
INSERT INTO entries VALUES(69,'many-066','settle','token:ann-2','revenue',66,20,0,1795348800014,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679986,NULL);
INSERT INTO entries VALUES(70,'many-067','settle','token:ann-2','revenue',67,20,0,1795348800015,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679985,NULL);
INSERT INTO entries VALUES(71,'many-068','settle','token:ann-2','revenue',68,20,0,1795348800016,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679984,NULL);
INSERT INTO entries VALUES(72,'many-069','settle','token:ann-2','revenue',69,20,0,1795348800017,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679983,NULL);
INSERT INTO entries VALUES(73,'many-070','settle','token:ann-2','revenue',70,20,0,1795348800018,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679982,NULL);
INSERT INTO entries VALUES(74,'many-071','settle','token:ann-2','revenue',71,20,0,1795348800019,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679981,NULL);
INSERT INTO entries VALUES(75,'many-072','settle','token:ann-2','revenue',72,20,0,1795348800020,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679980,NULL);
INSERT INTO entries VALUES(76,'many-073','settle','token:ann-2','revenue',73,20,0,1795348800021,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679979,NULL);
INSERT INTO entries VALUES(77,'many-074','settle','token:ann-2','revenue',74,20,0,1795348800022,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679978,NULL);
INSERT INTO entries VALUES(78,'many-075','settle','token:ann-2','revenue',75,20,0,1795348800023,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679977,NULL);
INSERT INTO entries VALUES(79,'many-076','settle','token:ann-2','revenue',76,20,0,1795348800024,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679976,NULL);
INSERT INTO entries VALUES(80,'many-077','settle','token:ann-2','revenue',77,20,0,1795348800025,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795345679975,NULL);
INSERT INTO entries VALUES(81,'many-078','settle','token:ann-2','revenue',78,20,0,1795348800000,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344120000,NULL);
INSERT INTO entries VALUES(82,'many-079','settle','token:ann-2','revenue',79,20,0,1795348800001,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119999,NULL);
INSERT INTO entries VALUES(83,'many-080','settle','token:ann-2','revenue',80,20,0,1795348800002,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119998,NULL);
INSERT INTO entries VALUES(84,'many-081','settle','token:ann-2','revenue',81,20,0,1795348800003,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119997,NULL);
INSERT INTO entries VALUES(85,'many-082','settle','token:ann-2','revenue',82,20,0,1795348800004,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119996,NULL);
INSERT INTO entries VALUES(86,'many-083','settle','token:ann-2','revenue',83,20,0,1795348800005,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119995,NULL);
INSERT INTO entries VALUES(87,'many-084','settle','token:ann-2','revenue',84,20,0,1795348800006,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119994,NULL);
INSERT INTO entries VALUES(88,'many-085','settle','token:ann-2','revenue',85,20,0,1795348800007,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119993,NULL);
INSERT INTO entries VALUES(89,'many-086','settle','token:ann-2','revenue',86,20,0,1795348800008,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119992,NULL);
INSERT INTO entries VALUES(90,'many-087','settle','token:ann-2','revenue',87,20,0,1795348800009,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119991,NULL);
INSERT INTO entries VALUES(91,'many-088','settle','token:ann-2','revenue',88,20,0,1795348800010,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119990,NULL);
INSERT INTO entries VALUES(92,'many-089','settle','token:ann-2','revenue',89,20,0,1795348800011,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119989,NULL);
INSERT INTO entries VALUES(93,'many-090','settle','token:ann-2','revenue',90,20,0,1795348800012,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119988,NULL);
INSERT INTO entries VALUES(94,'many-091','settle','token:ann-2','revenue',91,20,0,1795348800013,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119987,NULL);
INSERT INTO entries VALUES(95,'many-092','settle','token:ann-2','revenue',92,20,0,1795348800014,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119986,NULL);
INSERT INTO entries VALUES(96,'many-093','settle','token:ann-2','revenue',93,20,0,1795348800015,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119985,NULL);
INSERT INTO entries VALUES(97,'many-094','settle','token:ann-2','revenue',94,20,0,1795348800016,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119984,NULL);
INSERT INTO entries VALUES(98,'many-095','settle','token:ann-2','revenue',95,20,0,1795348800017,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119983,NULL);
INSERT INTO entries VALUES(99,'many-096','settle','token:ann-2','revenue',96,20,0,1795348800018,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119982,NULL);
INSERT INTO entries VALUES(100,'many-097','settle','token:ann-2','revenue',97,20,0,1795348800019,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119981,NULL);
INSERT INTO entries VALUES(101,'many-098','settle','token:ann-2','revenue',98,20,0,1795348800020,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119980,NULL);
INSERT INTO entries VALUES(102,'many-099','settle','token:ann-2','revenue',99,20,0,1795348800021,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119979,NULL);
INSERT INTO entries VALUES(103,'many-100','settle','token:ann-2','revenue',100,20,0,1795348800022,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119978,NULL);
INSERT INTO entries VALUES(104,'many-101','settle','token:ann-2','revenue',101,20,0,1795348800023,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119977,NULL);
INSERT INTO entries VALUES(105,'many-102','settle','token:ann-2','revenue',102,20,0,1795348800024,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119976,NULL);
INSERT INTO entries VALUES(106,'many-103','settle','token:ann-2','revenue',103,20,0,1795348800025,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795344119975,NULL);
INSERT INTO entries VALUES(107,'many-104','settle','token:ann-2','revenue',104,20,0,1795348800000,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342560000,NULL);
INSERT INTO entries VALUES(108,'many-105','settle','token:ann-2','revenue',105,20,0,1795348800001,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559999,NULL);
INSERT INTO entries VALUES(109,'many-106','settle','token:ann-2','revenue',106,20,0,1795348800002,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559998,NULL);
INSERT INTO entries VALUES(110,'many-107','settle','token:ann-2','revenue',107,20,0,1795348800003,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559997,NULL);
INSERT INTO entries VALUES(111,'many-108','settle','token:ann-2','revenue',108,20,0,1795348800004,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559996,NULL);
INSERT INTO entries VALUES(112,'many-109','settle','token:ann-2','revenue',109,20,0,1795348800005,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559995,NULL);
INSERT INTO entries VALUES(113,'many-110','settle','token:ann-2','revenue',110,20,0,1795348800006,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559994,NULL);
INSERT INTO entries VALUES(114,'many-111','settle','token:ann-2','revenue',111,20,0,1795348800007,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559993,NULL);
INSERT INTO entries VALUES(115,'many-112','settle','token:ann-2','revenue',112,20,0,1795348800008,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559992,NULL);
INSERT INTO entries VALUES(116,'many-113','settle','token:ann-2','revenue',113,20,0,1795348800009,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559991,NULL);
INSERT INTO entries VALUES(117,'many-114','settle','token:ann-2','revenue',114,20,0,1795348800010,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559990,NULL);
INSERT INTO entries VALUES(118,'many-115','settle','token:ann-2','revenue',115,20,0,1795348800011,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559989,NULL);
INSERT INTO entries VALUES(119,'many-116','settle','token:ann-2','revenue',116,20,0,1795348800012,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559988,NULL);
INSERT INTO entries VALUES(120,'many-117','settle','token:ann-2','revenue',117,20,0,1795348800013,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559987,NULL);
INSERT INTO entries VALUES(121,'many-118','settle','token:ann-2','revenue',118,20,0,1795348800014,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559986,NULL);
INSERT INTO entries VALUES(122,'many-119','settle','token:ann-2','revenue',119,20,0,1795348800015,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559985,NULL);
INSERT INTO entries VALUES(123,'many-120','settle','token:ann-2','revenue',120,20,0,1795348800016,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559984,NULL);
INSERT INTO entries VALUES(124,'many-121','settle','token:ann-2','revenue',121,20,0,1795348800017,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559983,NULL);
INSERT INTO entries VALUES(125,'many-122','settle','token:ann-2','revenue',122,20,0,1795348800018,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559982,NULL);
INSERT INTO entries VALUES(126,'many-123','settle','token:ann-2','revenue',123,20,0,1795348800019,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559981,NULL);
INSERT INTO entries VALUES(127,'many-124','settle','token:ann-2','revenue',124,20,0,1795348800020,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559980,NULL);
INSERT INTO entries VALUES(128,'many-125','settle','token:ann-2','revenue',125,20,0,1795348800021,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559979,NULL);
INSERT INTO entries VALUES(129,'many-126','settle','token:ann-2','revenue',126,20,0,1795348800022,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559978,NULL);
INSERT INTO entries VALUES(130,'many-127','settle','token:ann-2','revenue',127,20,0,1795348800023,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559977,NULL);
INSERT INTO entries VALUES(131,'many-128','settle','token:ann-2','revenue',128,20,0,1795348800024,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559976,NULL);
INSERT INTO entries VALUES(132,'many-129','settle','token:ann-2','revenue',129,20,0,1795348800025,'ann','embeddings',NULL,'claude','some-model',0,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,NULL,1795342559975,NULL);
INSERT INTO entries VALUES(133,'settled-below','settle','token:ann-1','revenue',25,60,0,1795348800001,'ann','chat','messages','claude','some-model',1,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,78.249999999999999998,1795348800000,NULL);
INSERT INTO entries VALUES(134,'settled-above','settle','token:ann-1','revenue',90,60,0,1795348800002,'ann','chat','messages','claude','some-model',1,200,'interrupted','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,78.249999999999999998,1795348800002,NULL);
INSERT INTO entries VALUES(135,'settled-unrecorded','settle','token:ann-1','revenue',11,60,0,1795348800003,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO entries VALUES(136,'released','release','token:ann-1','revenue',0,70,0,1795348800004,'ann','chat',NULL,'claude','some-model',1,503,'failed','{}',0,0,1234.5,78.249999999999999998,1795348800003,NULL);
INSERT INTO entries VALUES(137,'released-unrecorded','release','token:ben-1','revenue',0,70,0,1795348800005,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO entries VALUES(138,'short','settle','token:ben-1','revenue',500,100,200,1795348800006,'ben','chat','messages','claude','some-model',1,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,78.249999999999999998,1795348800004,NULL);
INSERT INTO entries VALUES(139,'answered','settle','token:ann-1','revenue',12,30,0,1795348800007,'ann','chat','messages','claude','some-model',1,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,78.249999999999999998,1795348800005,NULL);
INSERT INTO entries VALUES(140,'expired-free','expire','token:ann-1','revenue',0,50,0,1795348920000,'ann','chat',NULL,'claude','some-model',0,0,'expired','{}',0,0,120000.0,NULL,1795348800000,NULL);
INSERT INTO entries VALUES(141,'expired-key','expire','token:ann-1','revenue',0,50,0,1795348920000,'ann','chat',NULL,'claude','some-model',0,0,'expired','{}',0,0,120000.0,NULL,1795348800000,NULL);
INSERT INTO entries VALUES(142,'expired-late-less','expire','token:ann-1','revenue',20,50,0,1795348920000,'ann','chat','messages','claude','some-model',1,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,78.249999999999999998,1795348800007,5);
INSERT INTO entries VALUES(143,'expired-late-more','expire','token:ann-1','revenue',20,50,0,1795348920000,'ann','chat','messages','claude','some-model',1,200,'complete','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,78.249999999999999998,1795348800006,35);
INSERT INTO entries VALUES(144,'expired-late-release','expire','token:ann-1','revenue',20,50,0,1795348920000,'ann','chat','messages','claude','some-model',1,200,'abandoned','{"input":10,"cacheRead":5,"output":7,"reasoning":2}',15,9,1234.5,78.249999999999999998,1795348800008,0);
INSERT INTO entries VALUES(145,'expired-late-unrecorded','expire','token:ann-1','revenue',20,50,0,1795348920000,'ann','chat',NULL,'claude','some-model',0,0,'expired','{}',0,0,120000.0,NULL,1795348800000,33);
INSERT INTO entries VALUES(146,'expired-observed','expire','token:ann-1','revenue',20,50,0,1795348920000,'ann','chat',NULL,'claude','some-model',0,0,'expired','{}',0,0,120000.0,NULL,1795348800000,NULL);
INSERT INTO entries VALUES(147,'expired-robot','expire','token:robot','revenue',44,50,0,1795348920000,'machine','images.generate',NULL,'openai','org/model:7b',0,0,'expired','{}',0,0,120000.0,NULL,1795348800000,NULL);
INSERT INTO entries VALUES(148,'waits-late','expire','token:ann-1','revenue',20,50,0,1795348920000,'ann','chat',NULL,'claude','some-model',0,0,'expired','{}',0,0,120000.0,NULL,1795348800000,NULL);
INSERT INTO entries VALUES(149,'waits-late-free','expire','token:ann-1','revenue',0,50,0,1795348920000,'ann','chat',NULL,'claude','some-model',0,0,'expired','{}',0,0,120000.0,NULL,1795348800000,NULL);
INSERT INTO entries VALUES(150,'expired-late-more:late','settle','token:ann-1','revenue',15,0,0,1795348980000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO entries VALUES(151,'expired-late-less:late','settle','revenue','token:ann-1',15,0,0,1795348980000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO entries VALUES(152,'expired-late-release:late','settle','revenue','token:ann-1',20,0,0,1795348980000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO entries VALUES(153,'expired-late-unrecorded:late','settle','token:ann-1','revenue',13,0,0,1795348980000,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE calls_by_owner (
    owner       TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    PRIMARY KEY (owner, started_at, number)
  ) STRICT, WITHOUT ROWID;
INSERT INTO calls_by_owner VALUES('ann',1795342559975,132);
INSERT INTO calls_by_owner VALUES('ann',1795342559976,131);
INSERT INTO calls_by_owner VALUES('ann',1795342559977,130);
INSERT INTO calls_by_owner VALUES('ann',1795342559978,129);
INSERT INTO calls_by_owner VALUES('ann',1795342559979,128);
INSERT INTO calls_by_owner VALUES('ann',1795342559980,127);
INSERT INTO calls_by_owner VALUES('ann',1795342559981,126);
INSERT INTO calls_by_owner VALUES('ann',1795342559982,125);
INSERT INTO calls_by_owner VALUES('ann',1795342559983,124);
INSERT INTO calls_by_owner VALUES('ann',1795342559984,123);
INSERT INTO calls_by_owner VALUES('ann',1795342559985,122);
INSERT INTO calls_by_owner VALUES('ann',1795342559986,121);
INSERT INTO calls_by_owner VALUES('ann',1795342559987,120);
INSERT INTO calls_by_owner VALUES('ann',1795342559988,119);
INSERT INTO calls_by_owner VALUES('ann',1795342559989,118);
INSERT INTO calls_by_owner VALUES('ann',1795342559990,117);
INSERT INTO calls_by_owner VALUES('ann',1795342559991,116);
INSERT INTO calls_by_owner VALUES('ann',1795342559992,115);
INSERT INTO calls_by_owner VALUES('ann',1795342559993,114);
INSERT INTO calls_by_owner VALUES('ann',1795342559994,113);
INSERT INTO calls_by_owner VALUES('ann',1795342559995,112);
INSERT INTO calls_by_owner VALUES('ann',1795342559996,111);
INSERT INTO calls_by_owner VALUES('ann',1795342559997,110);
INSERT INTO calls_by_owner VALUES('ann',1795342559998,109);
INSERT INTO calls_by_owner VALUES('ann',1795342559999,108);
INSERT INTO calls_by_owner VALUES('ann',1795342560000,107);
INSERT INTO calls_by_owner VALUES('ann',1795344119975,106);
INSERT INTO calls_by_owner VALUES('ann',1795344119976,105);
INSERT INTO calls_by_owner VALUES('ann',1795344119977,104);
INSERT INTO calls_by_owner VALUES('ann',1795344119978,103);
INSERT INTO calls_by_owner VALUES('ann',1795344119979,102);
INSERT INTO calls_by_owner VALUES('ann',1795344119980,101);
INSERT INTO calls_by_owner VALUES('ann',1795344119981,100);
INSERT INTO calls_by_owner VALUES('ann',1795344119982,99);
INSERT INTO calls_by_owner VALUES('ann',1795344119983,98);
INSERT INTO calls_by_owner VALUES('ann',1795344119984,97);
INSERT INTO calls_by_owner VALUES('ann',1795344119985,96);
INSERT INTO calls_by_owner VALUES('ann',1795344119986,95);
INSERT INTO calls_by_owner VALUES('ann',1795344119987,94);
INSERT INTO calls_by_owner VALUES('ann',1795344119988,93);
INSERT INTO calls_by_owner VALUES('ann',1795344119989,92);
INSERT INTO calls_by_owner VALUES('ann',1795344119990,91);
INSERT INTO calls_by_owner VALUES('ann',1795344119991,90);
INSERT INTO calls_by_owner VALUES('ann',1795344119992,89);
INSERT INTO calls_by_owner VALUES('ann',1795344119993,88);
INSERT INTO calls_by_owner VALUES('ann',1795344119994,87);
INSERT INTO calls_by_owner VALUES('ann',1795344119995,86);
INSERT INTO calls_by_owner VALUES('ann',1795344119996,85);
INSERT INTO calls_by_owner VALUES('ann',1795344119997,84);
INSERT INTO calls_by_owner VALUES('ann',1795344119998,83);
INSERT INTO calls_by_owner VALUES('ann',1795344119999,82);
INSERT INTO calls_by_owner VALUES('ann',1795344120000,81);
INSERT INTO calls_by_owner VALUES('ann',1795345679975,80);
INSERT INTO calls_by_owner VALUES('ann',1795345679976,79);
INSERT INTO calls_by_owner VALUES('ann',1795345679977,78);
INSERT INTO calls_by_owner VALUES('ann',1795345679978,77);
INSERT INTO calls_by_owner VALUES('ann',1795345679979,76);
INSERT INTO calls_by_owner VALUES('ann',1795345679980,75);
INSERT INTO calls_by_owner VALUES('ann',1795345679981,74);
INSERT INTO calls_by_owner VALUES('ann',1795345679982,73);
INSERT INTO calls_by_owner VALUES('ann',1795345679983,72);
INSERT INTO calls_by_owner VALUES('ann',1795345679984,71);
INSERT INTO calls_by_owner VALUES('ann',1795345679985,70);
INSERT INTO calls_by_owner VALUES('ann',1795345679986,69);
INSERT INTO calls_by_owner VALUES('ann',1795345679987,68);
INSERT INTO calls_by_owner VALUES('ann',1795345679988,67);
INSERT INTO calls_by_owner VALUES('ann',1795345679989,66);
INSERT INTO calls_by_owner VALUES('ann',1795345679990,65);
INSERT INTO calls_by_owner VALUES('ann',1795345679991,64);
INSERT INTO calls_by_owner VALUES('ann',1795345679992,63);
INSERT INTO calls_by_owner VALUES('ann',1795345679993,62);
INSERT INTO calls_by_owner VALUES('ann',1795345679994,61);
INSERT INTO calls_by_owner VALUES('ann',1795345679995,60);
INSERT INTO calls_by_owner VALUES('ann',1795345679996,59);
INSERT INTO calls_by_owner VALUES('ann',1795345679997,58);
INSERT INTO calls_by_owner VALUES('ann',1795345679998,57);
INSERT INTO calls_by_owner VALUES('ann',1795345679999,56);
INSERT INTO calls_by_owner VALUES('ann',1795345680000,55);
INSERT INTO calls_by_owner VALUES('ann',1795347239975,54);
INSERT INTO calls_by_owner VALUES('ann',1795347239976,53);
INSERT INTO calls_by_owner VALUES('ann',1795347239977,52);
INSERT INTO calls_by_owner VALUES('ann',1795347239978,51);
INSERT INTO calls_by_owner VALUES('ann',1795347239979,50);
INSERT INTO calls_by_owner VALUES('ann',1795347239980,49);
INSERT INTO calls_by_owner VALUES('ann',1795347239981,48);
INSERT INTO calls_by_owner VALUES('ann',1795347239982,47);
INSERT INTO calls_by_owner VALUES('ann',1795347239983,46);
INSERT INTO calls_by_owner VALUES('ann',1795347239984,45);
INSERT INTO calls_by_owner VALUES('ann',1795347239985,44);
INSERT INTO calls_by_owner VALUES('ann',1795347239986,43);
INSERT INTO calls_by_owner VALUES('ann',1795347239987,42);
INSERT INTO calls_by_owner VALUES('ann',1795347239988,41);
INSERT INTO calls_by_owner VALUES('ann',1795347239989,40);
INSERT INTO calls_by_owner VALUES('ann',1795347239990,39);
INSERT INTO calls_by_owner VALUES('ann',1795347239991,38);
INSERT INTO calls_by_owner VALUES('ann',1795347239992,37);
INSERT INTO calls_by_owner VALUES('ann',1795347239993,36);
INSERT INTO calls_by_owner VALUES('ann',1795347239994,35);
INSERT INTO calls_by_owner VALUES('ann',1795347239995,34);
INSERT INTO calls_by_owner VALUES('ann',1795347239996,33);
INSERT INTO calls_by_owner VALUES('ann',1795347239997,32);
INSERT INTO calls_by_owner VALUES('ann',1795347239998,31);
INSERT INTO calls_by_owner VALUES('ann',1795347239999,30);
INSERT INTO calls_by_owner VALUES('ann',1795347240000,29);
INSERT INTO calls_by_owner VALUES('ann',1795348799975,28);
INSERT INTO calls_by_owner VALUES('ann',1795348799976,27);
INSERT INTO calls_by_owner VALUES('ann',1795348799977,26);
INSERT INTO calls_by_owner VALUES('ann',1795348799978,25);
INSERT INTO calls_by_owner VALUES('ann',1795348799979,24);
INSERT INTO calls_by_owner VALUES('ann',1795348799980,23);
INSERT INTO calls_by_owner VALUES('ann',1795348799981,22);
INSERT INTO calls_by_owner VALUES('ann',1795348799982,21);
INSERT INTO calls_by_owner VALUES('ann',1795348799983,20);
INSERT INTO calls_by_owner VALUES('ann',1795348799984,19);
INSERT INTO calls_by_owner VALUES('ann',1795348799985,18);
INSERT INTO calls_by_owner VALUES('ann',1795348799986,17);
INSERT INTO calls_by_owner VALUES('ann',1795348799987,16);
INSERT INTO calls_by_owner VALUES('ann',1795348799988,15);
INSERT INTO calls_by_owner VALUES('ann',1795348799989,14);
INSERT INTO calls_by_owner VALUES('ann',1795348799990,13);
INSERT INTO calls_by_owner VALUES('ann',1795348799991,12);
INSERT INTO calls_by_owner VALUES('ann',1795348799992,11);
INSERT INTO calls_by_owner VALUES('ann',1795348799993,10);
INSERT INTO calls_by_owner VALUES('ann',1795348799994,9);
INSERT INTO calls_by_owner VALUES('ann',1795348799995,8);
INSERT INTO calls_by_owner VALUES('ann',1795348799996,7);
INSERT INTO calls_by_owner VALUES('ann',1795348799997,6);
INSERT INTO calls_by_owner VALUES('ann',1795348799998,5);
INSERT INTO calls_by_owner VALUES('ann',1795348799999,4);
INSERT INTO calls_by_owner VALUES('ann',1795348800000,3);
CREATE TABLE calls_by_owner_mark (number INTEGER NOT NULL) STRICT;
INSERT INTO calls_by_owner_mark VALUES(132);
CREATE INDEX tokens_by_account ON tokens (account_id);
CREATE INDEX retry_keys_by_age ON retry_keys (kept_until);
CREATE INDEX responses_by_age ON responses (kept_until);
CREATE TRIGGER entries_are_never_changed BEFORE UPDATE OF number, rowid, _rowid_, oid, id, kind, debit_account,
    credit_account, amount, held, shortfall, created_at ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
CREATE TRIGGER entries_are_never_deleted BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are only appended'); END;
CREATE VIEW generations AS
    SELECT number, id, owner, debit_account AS account_id, operation, dialect, provider, model, streamed, status, outcome, usage,
      input_tokens, output_tokens, coalesce(credits, amount) AS credits, ms, first_byte_ms, started_at
    FROM entries WHERE owner IS NOT NULL;
COMMIT;
PRAGMA user_version = 6;
