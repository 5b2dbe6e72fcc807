/**
 * Adds addresses under the lock of their crawl, which numbers them. The lists have equal lengths. An address that the crawl
 * has already is left out; those beyond the room are counted by is_full.
 */
export const CRAWL_ADD = `
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
`;

/** The writes under a lease. Each locks the crawl first, as the others do. */
export const CRAWL_LEASED = `
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
`;

/** Failed pages have positions too: from -1 downwards, in their order. */
export const CRAWL_END = `
  CREATE OR REPLACE FUNCTION crawl_end(
    of_crawl text, page_number bigint, token text, attempt bigint, new_state bigint, code text, message text, cost bigint,
    of_host text, now_at bigint
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    crawl record;
    size bigint;
  BEGIN
    SELECT completed, failed, delay_ms INTO crawl FROM crawls WHERE id = of_crawl FOR UPDATE;
    UPDATE crawl_pages SET state = new_state, failure_code = code, failure = message, ended_at = now_at, work = NULL,
        lease_token = NULL, lease_until = NULL, position = CASE new_state WHEN 3 THEN crawl.completed WHEN 4 THEN -1 - crawl.failed END
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
`;
