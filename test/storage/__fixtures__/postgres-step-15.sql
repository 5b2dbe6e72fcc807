-- The tables and functions of crawls and of the local search as the version before retry keys left them.

  CREATE TABLE crawls (
    id               text COLLATE "C" PRIMARY KEY,
    kind             text NOT NULL,
    owner            text COLLATE "C" NOT NULL,
    caller           text NOT NULL,
    request          text NOT NULL,
    pages_max        bigint NOT NULL,
    concurrency_max  bigint NOT NULL,
    delay_ms         bigint NOT NULL,
    state            text NOT NULL,
    failure_code     text,
    failure          text,
    discovered       bigint NOT NULL DEFAULT 0,
    completed        bigint NOT NULL DEFAULT 0,
    failed           bigint NOT NULL DEFAULT 0,
    skipped          bigint NOT NULL DEFAULT 0,
    credits          bigint NOT NULL DEFAULT 0,
    bytes            bigint NOT NULL DEFAULT 0,
    created_at       bigint NOT NULL,
    ended_at         bigint,
    expires_at       bigint NOT NULL
  ) WITH (fillfactor = 70);
  CREATE INDEX crawls_by_owner ON crawls (owner, created_at);
  CREATE INDEX crawls_by_state ON crawls (owner) WHERE state = 'scraping';
  CREATE INDEX crawls_by_age ON crawls (expires_at);

  CREATE TABLE crawl_pages (
    crawl_id      text COLLATE "C" NOT NULL,
    number        bigint NOT NULL,
    kind          text NOT NULL,
    key           text COLLATE "C" NOT NULL,
    url           text NOT NULL,
    host          text COLLATE "C" NOT NULL,
    depth         bigint NOT NULL,
    state         bigint NOT NULL DEFAULT 0,
    attempts      bigint NOT NULL DEFAULT 0,
    lease_token   text COLLATE "C",
    lease_until   bigint,
    work          text,
    digest        text COLLATE "C",
    position      bigint,
    bytes         bigint NOT NULL DEFAULT 0,
    failure_code  text,
    failure       text,
    ended_at      bigint,
    PRIMARY KEY (crawl_id, number)
  );
  CREATE UNIQUE INDEX crawl_pages_by_key ON crawl_pages (crawl_id, key);
  CREATE INDEX crawl_pages_waiting ON crawl_pages (crawl_id, host, number) WHERE state = 0;
  CREATE INDEX crawl_pages_leased ON crawl_pages (lease_until) WHERE lease_token IS NOT NULL;
  CREATE INDEX crawl_pages_of_crawl ON crawl_pages (crawl_id) WHERE lease_token IS NOT NULL;
  CREATE INDEX crawl_pages_of_host ON crawl_pages (host) WHERE lease_token IS NOT NULL;
  CREATE INDEX crawl_pages_by_lease ON crawl_pages (lease_token) WHERE lease_token IS NOT NULL;
  CREATE INDEX crawl_pages_by_position ON crawl_pages (crawl_id, position, bytes) WHERE position IS NOT NULL;
  CREATE UNIQUE INDEX crawl_pages_by_digest ON crawl_pages (crawl_id, digest) WHERE digest IS NOT NULL;
  CREATE INDEX crawl_pages_failed ON crawl_pages (crawl_id, number) WHERE failure_code IS NOT NULL;

  CREATE TABLE crawl_lanes (
    crawl_id  text COLLATE "C" NOT NULL,
    host      text COLLATE "C" NOT NULL,
    waiting   bigint NOT NULL,
    ready_at  bigint NOT NULL,
    PRIMARY KEY (crawl_id, host)
  );
  CREATE INDEX crawl_lanes_by_moment ON crawl_lanes (ready_at) WHERE waiting > 0;

  CREATE TABLE web_hosts (
    host         text COLLATE "C" PRIMARY KEY,
    next_at      bigint NOT NULL,
    interval_ms  bigint NOT NULL
  );
  CREATE INDEX web_hosts_by_age ON web_hosts (next_at);

  CREATE TABLE crawl_notes (
    crawl_id  text COLLATE "C" NOT NULL,
    code      text COLLATE "C" NOT NULL,
    url       text NOT NULL,
    message   text NOT NULL,
    count     bigint NOT NULL,
    noted_at  bigint NOT NULL,
    PRIMARY KEY (crawl_id, code)
  );

  CREATE TABLE crawl_results (
    crawl_id  text COLLATE "C" NOT NULL,
    number    bigint NOT NULL,
    content   bytea NOT NULL,
    PRIMARY KEY (crawl_id, number)
  );
  ALTER TABLE crawl_results ALTER COLUMN content SET STORAGE EXTERNAL; -- compressed by the gateway

  CREATE FUNCTION crawl_add(
    of_crawl text, kinds text[], keys text[], urls text[], hosts text[], depths bigint[], now_at bigint, discovered_max bigint,
    OUT added bigint, OUT is_full boolean
  ) LANGUAGE plpgsql AS $$
  DECLARE
    known bigint;
    fresh bigint;
  BEGIN
    added := 0;
    is_full := false;
    SELECT discovered INTO known FROM crawls WHERE id = of_crawl AND state = 'scraping' FOR UPDATE;
    IF NOT FOUND THEN RETURN; END IF;
    SELECT count(DISTINCT given.key) INTO fresh FROM unnest(keys) AS given (key)
      WHERE NOT EXISTS (SELECT 1 FROM crawl_pages p WHERE p.crawl_id = of_crawl AND p.key = given.key);
    IF fresh = 0 THEN RETURN; END IF;
    is_full := known + fresh > discovered_max;
    WITH new_pages AS (
      SELECT DISTINCT ON (given.key) given.* FROM unnest(kinds, keys, urls, hosts, depths) WITH ORDINALITY
        AS given (kind, key, url, host, depth, place)
      WHERE NOT EXISTS (SELECT 1 FROM crawl_pages p WHERE p.crawl_id = of_crawl AND p.key = given.key)
      ORDER BY given.key, given.place
    ), numbered AS (
      SELECT *, row_number() OVER (ORDER BY place) - 1 AS index FROM new_pages
    ), inserted AS (
      INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth)
        SELECT of_crawl, known + index, kind, key, url, host, depth FROM numbered WHERE known + index < discovered_max
        RETURNING host
    ), by_host AS (
      SELECT host, count(*) AS count FROM inserted GROUP BY host
    ), paced AS (
      INSERT INTO web_hosts (host, next_at, interval_ms) SELECT host, now_at, 0 FROM by_host ORDER BY host
        ON CONFLICT (host) DO NOTHING
    ), lanes AS (
      INSERT INTO crawl_lanes (crawl_id, host, waiting, ready_at) SELECT of_crawl, host, count, now_at FROM by_host
        ORDER BY host
        ON CONFLICT (crawl_id, host) DO UPDATE SET waiting = crawl_lanes.waiting + excluded.waiting
    )
    SELECT coalesce(sum(count), 0) INTO added FROM by_host;
    UPDATE crawls SET discovered = discovered + added WHERE id = of_crawl;
  END $$;

  CREATE FUNCTION crawl_take(
    token text, until bigint, now_at bigint, take_max bigint, connections_max bigint, general_ms bigint, attempts_max bigint,
    busy_ms bigint, burst_ms bigint, lanes_max bigint
  ) RETURNS SETOF crawl_pages LANGUAGE plpgsql SET enable_bitmapscan = off SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    counted text := '';
    crawl_room bigint := 0;
    page record;
    lane record;
    crawl record;
    own record;
    pause bigint;
    tolerance bigint;
    paced bigint;
    room bigint;
    taken bigint := 0;
    got bigint;
  BEGIN
    FOR page IN SELECT p.crawl_id, p.number, p.state, p.host, p.attempts FROM crawl_pages p
      WHERE p.lease_token IS NOT NULL AND p.lease_until < now_at LIMIT take_max FOR UPDATE SKIP LOCKED
    LOOP
      IF page.state = 2 THEN
        taken := taken + 1;
        RETURN QUERY UPDATE crawl_pages p SET lease_token = token, lease_until = until, attempts = p.attempts + 1
          WHERE p.crawl_id = page.crawl_id AND p.number = page.number RETURNING p.*;
        CONTINUE;
      END IF;
      SELECT c.state INTO crawl FROM crawls c WHERE c.id = page.crawl_id FOR UPDATE SKIP LOCKED;
      CONTINUE WHEN NOT FOUND;
      IF crawl.state <> 'scraping' THEN
        UPDATE crawl_pages p SET state = 6, lease_token = NULL, lease_until = NULL
          WHERE p.crawl_id = page.crawl_id AND p.number = page.number;
        UPDATE crawls SET skipped = skipped + 1 WHERE id = page.crawl_id;
      ELSIF page.attempts >= attempts_max THEN
        UPDATE crawl_pages p SET state = 4, lease_token = NULL, lease_until = NULL, ended_at = now_at,
            failure_code = 'CRASHED', failure = 'The page could not be fetched: its processes died.'
          WHERE p.crawl_id = page.crawl_id AND p.number = page.number;
        UPDATE crawls SET failed = failed + 1 WHERE id = page.crawl_id;
      ELSE
        UPDATE crawl_pages p SET state = 0, lease_token = NULL, lease_until = NULL
          WHERE p.crawl_id = page.crawl_id AND p.number = page.number;
        UPDATE crawl_lanes SET waiting = waiting + 1, ready_at = least(ready_at, now_at)
          WHERE crawl_id = page.crawl_id AND host = page.host;
      END IF;
    END LOOP;
    FOR lane IN SELECT l.crawl_id, l.host FROM crawl_lanes l WHERE l.waiting > 0 AND l.ready_at <= now_at
      ORDER BY l.ready_at LIMIT lanes_max FOR UPDATE SKIP LOCKED
    LOOP
      EXIT WHEN taken >= take_max;
      IF lane.crawl_id <> counted THEN
        counted := '';
        SELECT c.state, c.concurrency_max, c.pages_max - c.completed AS left_over, c.delay_ms INTO crawl
          FROM crawls c WHERE c.id = lane.crawl_id FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;
        IF crawl.state <> 'scraping' THEN
          -- Added while the crawl ended.
          DELETE FROM crawl_lanes l WHERE l.crawl_id = lane.crawl_id AND l.host = lane.host;
          CONTINUE;
        END IF;
        SELECT least(crawl.concurrency_max, crawl.left_over) - count(*) INTO crawl_room
          FROM crawl_pages p WHERE p.crawl_id = lane.crawl_id AND p.lease_token IS NOT NULL;
        counted := lane.crawl_id;
      END IF;
      SELECT h.next_at, h.interval_ms INTO own FROM web_hosts h WHERE h.host = lane.host FOR UPDATE SKIP LOCKED;
      IF NOT FOUND THEN
        -- Locked, or forgotten: then the next take finds it.
        INSERT INTO web_hosts (host, next_at, interval_ms) SELECT lane.host, 0, 0
          WHERE NOT EXISTS (SELECT 1 FROM web_hosts h WHERE h.host = lane.host) ON CONFLICT (host) DO NOTHING;
        CONTINUE;
      END IF;
      pause := greatest(own.interval_ms, general_ms);
      tolerance := CASE WHEN own.interval_ms >= burst_ms THEN 0 ELSE greatest(0, burst_ms - pause) END;
      paced := CASE WHEN own.next_at > now_at + tolerance THEN 0 WHEN pause = 0 THEN take_max
        ELSE (now_at + tolerance - greatest(own.next_at, now_at)) / pause + 1 END;
      room := least(
        take_max - taken, paced, CASE WHEN crawl.delay_ms > 0 THEN 1 ELSE take_max END,
        crawl_room,
        connections_max - (SELECT count(*) FROM crawl_pages p WHERE p.host = lane.host AND p.lease_token IS NOT NULL));
      IF room <= 0 THEN
        UPDATE crawl_lanes l
          SET ready_at = CASE WHEN paced > 0 THEN now_at + busy_ms ELSE greatest(now_at + 1, own.next_at - tolerance) END
          WHERE l.crawl_id = lane.crawl_id AND l.host = lane.host;
        CONTINUE;
      END IF;
      RETURN QUERY UPDATE crawl_pages p
        SET state = 1, attempts = p.attempts + 1, lease_token = token, lease_until = until
        WHERE p.crawl_id = lane.crawl_id AND p.number IN (
          SELECT w.number FROM crawl_pages w WHERE w.crawl_id = lane.crawl_id AND w.host = lane.host AND w.state = 0
          ORDER BY w.host, w.number LIMIT room)
        RETURNING p.*;
      GET DIAGNOSTICS got = ROW_COUNT;
      taken := taken + got;
      crawl_room := crawl_room - got;
      IF pause > 0 THEN
        UPDATE web_hosts h SET next_at = greatest(h.next_at, now_at) + got * pause WHERE h.host = lane.host;
      END IF;
      UPDATE crawl_lanes l SET waiting = l.waiting - got, ready_at = now_at + crawl.delay_ms
        WHERE l.crawl_id = lane.crawl_id AND l.host = lane.host;
    END LOOP;
  END $$;

  CREATE FUNCTION crawl_fetched(
    of_crawl text, page_number bigint, token text, attempt bigint, parked text, result bytea, result_bytes bigint,
    page_digest text
  ) RETURNS text LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM 1 FROM crawls WHERE id = of_crawl AND state = 'scraping' FOR UPDATE;
    IF NOT FOUND THEN RETURN 'lost'; END IF;
    IF EXISTS (SELECT 1 FROM crawl_pages WHERE crawl_id = of_crawl AND digest = page_digest AND number <> page_number) THEN
      RETURN 'duplicate';
    END IF;
    UPDATE crawl_pages SET state = 2, work = parked, bytes = result_bytes, digest = page_digest
      WHERE crawl_id = of_crawl AND number = page_number AND lease_token = token AND attempts = attempt AND state = 1;
    IF NOT FOUND THEN RETURN 'lost'; END IF;
    INSERT INTO crawl_results (crawl_id, number, content) VALUES (of_crawl, page_number, result)
      ON CONFLICT (crawl_id, number) DO UPDATE SET content = excluded.content;
    RETURN 'stored';
  END $$;

  CREATE FUNCTION crawl_end(
    of_crawl text, page_number bigint, token text, attempt bigint, new_state bigint, code text, message text, cost bigint,
    of_host text, now_at bigint
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    crawl record;
    size bigint;
  BEGIN
    SELECT completed, delay_ms INTO crawl FROM crawls WHERE id = of_crawl FOR UPDATE;
    UPDATE crawl_pages SET state = new_state, failure_code = code, failure = message, ended_at = now_at, work = NULL,
        lease_token = NULL, lease_until = NULL, position = CASE WHEN new_state = 3 THEN crawl.completed END
      WHERE crawl_id = of_crawl AND number = page_number AND lease_token = token AND attempts = attempt
      RETURNING bytes INTO size;
    IF NOT FOUND THEN RETURN false; END IF;
    UPDATE crawls SET completed = completed + (new_state = 3)::int, failed = failed + (new_state = 4)::int,
        skipped = skipped + (new_state > 4)::int, credits = credits + cost,
        bytes = bytes + CASE WHEN new_state = 3 THEN size ELSE 0 END
      WHERE id = of_crawl;
    IF crawl.delay_ms = 0 THEN
      UPDATE crawl_lanes SET ready_at = now_at WHERE crawl_id = of_crawl AND host = of_host AND ready_at > now_at;
    END IF;
    RETURN true;
  END $$;

  CREATE FUNCTION crawl_give_back(
    of_crawl text, page_number bigint, token text, attempt bigint, of_host text, ready bigint
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    is_over boolean;
  BEGIN
    SELECT state <> 'scraping' INTO is_over FROM crawls WHERE id = of_crawl FOR UPDATE;
    UPDATE crawl_pages SET state = CASE WHEN is_over THEN 6 ELSE 0 END, attempts = attempts - 1, lease_token = NULL,
        lease_until = NULL
      WHERE crawl_id = of_crawl AND number = page_number AND lease_token = token AND attempts = attempt AND state = 1;
    IF NOT FOUND THEN RETURN false; END IF;
    IF is_over THEN
      UPDATE crawls SET skipped = skipped + 1 WHERE id = of_crawl;
    ELSE
      UPDATE crawl_lanes SET waiting = waiting + 1, ready_at = greatest(ready_at, ready)
        WHERE crawl_id = of_crawl AND host = of_host;
    END IF;
    RETURN true;
  END $$;

  CREATE TABLE web_documents (
    owner        text COLLATE "C" NOT NULL,
    key          text COLLATE "C" NOT NULL,
    url          text NOT NULL,
    host         text COLLATE "C" NOT NULL,
    extension    text COLLATE "C" NOT NULL,
    title        text NOT NULL,
    description  text NOT NULL,
    stored_at    bigint NOT NULL,
    kept_until   bigint NOT NULL,
    words        tsvector NOT NULL, -- begins with the mark of the owner
    PRIMARY KEY (owner, key)
  );
  CREATE INDEX web_documents_by_moment ON web_documents (owner, stored_at);
  CREATE INDEX web_documents_by_age ON web_documents (kept_until);
  CREATE INDEX web_documents_by_words ON web_documents USING gin (words);
INSERT INTO crawls (id, kind, owner, caller, request, pages_max, concurrency_max, delay_ms, state, failure_code, failure, discovered, completed, failed, skipped, credits, bytes, created_at, ended_at, expires_at) VALUES ('c1', 'crawl', 'ann', '{"user":"ann"}', '{"url":"http://a.test/"}', 100, 9, 0, 'scraping', NULL, NULL, 5, 1, 0, 0, 5, 7, 4398046511104, NULL, 4399046511104);
INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth, state, attempts, lease_token, lease_until, work, digest, position, bytes, failure_code, failure, ended_at) VALUES ('c1', 3, 'page', 'k3', 'http://a.test/3', 'a.test', 1, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth, state, attempts, lease_token, lease_until, work, digest, position, bytes, failure_code, failure, ended_at) VALUES ('c1', 4, 'page', 'k4', 'http://a.test/4', 'a.test', 1, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth, state, attempts, lease_token, lease_until, work, digest, position, bytes, failure_code, failure, ended_at) VALUES ('c1', 2, 'page', 'k2', 'http://a.test/2', 'a.test', 1, 1, 1, 'old', 4398046512104, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth, state, attempts, lease_token, lease_until, work, digest, position, bytes, failure_code, failure, ended_at) VALUES ('c1', 0, 'page', 'k0', 'http://a.test/0', 'a.test', 1, 3, 1, NULL, NULL, NULL, 'd0', 0, 7, NULL, NULL, 4398046511104);
INSERT INTO crawl_pages (crawl_id, number, kind, key, url, host, depth, state, attempts, lease_token, lease_until, work, digest, position, bytes, failure_code, failure, ended_at) VALUES ('c1', 1, 'page', 'k1', 'http://a.test/1', 'a.test', 1, 2, 1, 'old', 4398046512104, '{"id":"w1"}', 'd1', NULL, 7, NULL, NULL, NULL);
INSERT INTO crawl_lanes (crawl_id, host, waiting, ready_at) VALUES ('c1', 'a.test', 2, 4398046511104);
INSERT INTO web_hosts (host, next_at, interval_ms) VALUES ('a.test', 4398046511104, 0);
INSERT INTO crawl_notes (crawl_id, code, url, message, count, noted_at) VALUES ('c1', 'CALENDAR', 'http://a.test/c', 'm', 1, 4398046511104);
INSERT INTO crawl_results (crawl_id, number, content) VALUES ('c1', 0, '\x636f6e74656e74');
INSERT INTO crawl_results (crawl_id, number, content) VALUES ('c1', 1, '\x636f6e74656e74');
INSERT INTO web_documents (owner, key, url, host, extension, title, description, stored_at, kept_until, words) VALUES ('ann', 'k', 'http://a.test/0', 'test.a.', '', 'Harbour', 'd', 4398046511104, 4399046511104, '''comes'':6 ''d'':3B ''harbour'':2A ''in'':7 ''o616e6e'':1 ''the'':4 ''tide'':5');
CREATE TABLE tollgate_schema (version bigint NOT NULL);
INSERT INTO tollgate_schema VALUES (15);

-- The start reads the zone of the days.
CREATE TABLE ledger_state (timezone text NOT NULL, closed_before bigint NOT NULL DEFAULT 0, sealed_before bigint NOT NULL DEFAULT 0, removed_before bigint NOT NULL DEFAULT 0);
INSERT INTO ledger_state (timezone) VALUES ('UTC');

-- Tables and types of the ledger and of videos that later steps change or use, without rows.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '% are only appended', TG_TABLE_NAME; END $$;
CREATE FUNCTION announce_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN NOTIFY tollgate_changes; RETURN NULL; END $$;
CREATE TABLE accounts (id text COLLATE "C" PRIMARY KEY, kind text NOT NULL, name text NOT NULL, parent_id text COLLATE "C", chain text[] COLLATE "C" NOT NULL, created_at bigint);
CREATE TABLE entries (id text COLLATE "C" PRIMARY KEY, kind text NOT NULL, debit_account text COLLATE "C" NOT NULL, credit_account text COLLATE "C" NOT NULL, amount bigint NOT NULL, held bigint NOT NULL, shortfall bigint NOT NULL, created_at bigint NOT NULL, corrects_at bigint, corrects_shortfall bigint);
CREATE TABLE daily_sums (owner text COLLATE "C" NOT NULL, day bigint NOT NULL, account_id text COLLATE "C" NOT NULL, provider text COLLATE "C" NOT NULL, model text COLLATE "C" NOT NULL, requests bigint NOT NULL, input_tokens bigint NOT NULL, output_tokens bigint NOT NULL, credits bigint NOT NULL, removed_requests bigint NOT NULL DEFAULT 0, removed_input_tokens bigint NOT NULL DEFAULT 0, removed_output_tokens bigint NOT NULL DEFAULT 0, removed_credits bigint NOT NULL DEFAULT 0, PRIMARY KEY (owner, day, account_id, provider, model));
CREATE TABLE generations (id text COLLATE "C" PRIMARY KEY, owner text NOT NULL, account_id text COLLATE "C", operation text, dialect text, provider text, model text, streamed boolean, status bigint, outcome text, usage text, input_tokens bigint, output_tokens bigint, credits bigint, ms double precision, first_byte_ms double precision, started_at bigint, parent text);
CREATE TABLE tokens (id text COLLATE "C" PRIMARY KEY, user_name text NOT NULL, account_id text COLLATE "C" NOT NULL, service boolean, admin boolean, revoked_at bigint, created_at bigint);
CREATE TABLE holds (id text COLLATE "C" PRIMARY KEY, purpose text NOT NULL, retry_key text);
CREATE TABLE retry_keys (account_id text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, fingerprint text NOT NULL, hold_id text COLLATE "C" NOT NULL, status bigint, headers text, body bytea, kept_until bigint NOT NULL, PRIMARY KEY (account_id, key));
CREATE TABLE videos (id text COLLATE "C" PRIMARY KEY, account_id text COLLATE "C" NOT NULL, retry_key text COLLATE "C", fingerprint text, created_answer text, created_at bigint NOT NULL);
CREATE TYPE ledger_operation AS (kind text, id text COLLATE "C", account text COLLATE "C", amount bigint, at bigint, lease_until bigint, purpose text, tokens bigint, is_rated boolean, requests_max bigint, tokens_max bigint, calls_max bigint, retry_key text COLLATE "C", key_place int, fingerprint text, kept_until bigint, status bigint, headers text, body text, record json, parent text, keeper text);

  CREATE FUNCTION ledger_day(at bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT at / 86400000 $$;
  CREATE FUNCTION ledger_period_start(period text, at bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE period
      WHEN 'daily' THEN at - at % 86400000
      WHEN 'monthly' THEN (extract(epoch FROM date_trunc('month', to_timestamp(at / 1000), 'UTC')) * 1000)::bigint
      ELSE 0
    END
  $$;
  CREATE FUNCTION ledger_period_end(period text, began bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE period
      WHEN 'daily' THEN began - began % 86400000 + 86400000
      WHEN 'monthly' THEN (extract(epoch FROM
        date_trunc('month', to_timestamp(began / 1000) AT TIME ZONE 'UTC') + interval '1 month') * 1000)::bigint
      ELSE 9223372036854775807
    END
  $$;
