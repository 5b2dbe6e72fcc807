/**
 * Leases the next pages: see `sqlite-take.ts`, which does the same. The statements of one take handle all hosts together, so that
 * the time depends neither on their number nor on that of the addresses: it is that of the pages which are taken.
 *
 * Rows that another node has locked are left to it, so that no two nodes count the pages of one host or crawl at the same time, and
 * none waits for another. The locks come first, in a statement of their own: the next one then sees what others have committed.
 *
 * The planner does not know that few rows are leased, that a limit is small, and what waits on top of millions of dead rows: it
 * would read whole tables. Every access here is a look-up in an index, which also remembers its dead rows.
 */
export const TAKE_FUNCTION = `
  DROP FUNCTION IF EXISTS crawl_take;
  CREATE FUNCTION crawl_take(
    token text, until bigint, now_at bigint, take_max bigint, connections_max bigint, general_ms bigint, attempts_max bigint,
    busy_ms bigint, burst_ms bigint, lanes_max bigint, owner_share double precision DEFAULT NULL
  ) RETURNS SETOF crawl_pages LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off
    SET plan_cache_mode = force_generic_plan AS $$
  DECLARE
    page record;
    due record;
    crawl record;
    taken bigint := 0;
    looked bigint := 0;
    stuck bigint := 0; -- lanes that others have locked: they stay due
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
    -- A few lanes at a time: more are needed only if those have to wait.
    WHILE taken < take_max AND looked < lanes_max LOOP
      WITH lanes AS MATERIALIZED (
        SELECT l.crawl_id, l.host, l.ready_at FROM crawl_lanes l WHERE l.waiting > 0 AND l.ready_at <= now_at
          ORDER BY l.ready_at LIMIT least(take_max - taken + stuck, lanes_max - looked) FOR UPDATE SKIP LOCKED
      ), their_crawls AS MATERIALIZED (
        SELECT c.id, c.state FROM crawls c WHERE c.id IN (SELECT lanes.crawl_id FROM lanes) FOR UPDATE SKIP LOCKED
      ), their_hosts AS MATERIALIZED (
        SELECT h.host FROM web_hosts h WHERE h.host IN (SELECT lanes.host FROM lanes) FOR UPDATE SKIP LOCKED
      ), locked AS (
        SELECT lanes.*, c.state, h.host IS NOT NULL AS is_open FROM lanes
          JOIN their_crawls c ON c.id = lanes.crawl_id LEFT JOIN their_hosts h ON h.host = lanes.host
      )
      SELECT coalesce(array_agg(crawl_id ORDER BY ready_at) FILTER (WHERE state = 'scraping' AND is_open), '{}') AS crawl_ids,
          coalesce(array_agg(host ORDER BY ready_at) FILTER (WHERE state = 'scraping' AND is_open), '{}') AS hosts,
          array_agg(DISTINCT crawl_id) FILTER (WHERE state <> 'scraping') AS ended,
          array_agg(DISTINCT host) FILTER (WHERE NOT is_open) AS closed, (SELECT count(*) FROM lanes) AS looked
        INTO due FROM locked;
      -- Lanes that were added while their crawl ended.
      IF due.ended IS NOT NULL THEN DELETE FROM crawl_lanes l WHERE l.crawl_id = ANY (due.ended); END IF;
      -- Locked, or forgotten: then the next take finds it.
      IF due.closed IS NOT NULL THEN
        INSERT INTO web_hosts (host, next_at, interval_ms) SELECT name, 0, 0 FROM unnest(due.closed) AS name
          WHERE NOT EXISTS (SELECT 1 FROM web_hosts h WHERE h.host = name) ON CONFLICT (host) DO NOTHING;
      END IF;
      looked := looked + due.looked;
      stuck := due.looked - cardinality(due.hosts);
      EXIT WHEN due.looked = 0;
      CONTINUE WHEN due.hosts = '{}';

      RETURN QUERY WITH lanes AS MATERIALIZED (
        SELECT given.place, l.crawl_id, l.host, l.waiting, c.owner, c.delay_ms, h.next_at,
            least(c.concurrency_max, c.pages_max - c.completed) AS pages_at_once,
            greatest(h.interval_ms, general_ms) AS pause,
            -- A host's own pause is kept exactly; the general rate over a second.
            CASE WHEN h.interval_ms > 0 THEN 0 ELSE greatest(0, burst_ms - greatest(h.interval_ms, general_ms)) END AS tolerance
          FROM unnest(due.crawl_ids, due.hosts) WITH ORDINALITY AS given (crawl_id, host, place)
          JOIN crawl_lanes l ON l.crawl_id = given.crawl_id AND l.host = given.host
          JOIN crawls c ON c.id = l.crawl_id JOIN web_hosts h ON h.host = l.host
      ), crawl_rooms AS MATERIALIZED (
        SELECT crawl_id, pages_at_once - (
            SELECT count(*) FROM crawl_pages p WHERE p.crawl_id = each.crawl_id AND p.lease_token IS NOT NULL) AS room
          FROM (SELECT DISTINCT crawl_id, pages_at_once FROM lanes) AS each
      ), owner_rooms AS MATERIALIZED (
        -- What this process has left is what others leave of its pages, less the owner's own.
        SELECT owner, CASE WHEN owner_share IS NULL THEN take_max
            ELSE greatest(1, floor((take_max - taken + owned) * owner_share))::bigint - owned END AS room
          FROM (
            SELECT owner, (SELECT count(*) FROM crawl_pages p JOIN crawls c ON c.id = p.crawl_id
                WHERE p.lease_token = token AND c.owner = each.owner) AS owned
              FROM (SELECT DISTINCT owner FROM lanes) AS each
          ) AS owners
      ), host_rooms AS MATERIALIZED (
        SELECT host, paced, least(paced, connections_max - (
            SELECT count(*) FROM crawl_pages p WHERE p.host = each.host AND p.lease_token IS NOT NULL)) AS room
          FROM (
            SELECT DISTINCT host, CASE WHEN next_at > now_at + tolerance THEN 0 WHEN pause = 0 THEN take_max
              ELSE (now_at + tolerance - greatest(next_at, now_at)) / pause + 1 END AS paced FROM lanes
          ) AS each
      ), wishes AS MATERIALIZED (
        SELECT lanes.*, c.room AS crawl_room, o.room AS owner_room, h.room AS host_room, h.paced,
            least(lanes.waiting, CASE WHEN lanes.delay_ms > 0 THEN 1 ELSE take_max END) AS wish
          FROM lanes JOIN crawl_rooms c ON c.crawl_id = lanes.crawl_id JOIN owner_rooms o ON o.owner = lanes.owner
            JOIN host_rooms h ON h.host = lanes.host
      ), by_host AS MATERIALIZED (
        SELECT *, greatest(0, least(wish, host_room - coalesce(sum(wish) OVER earlier, 0))) AS host_share FROM wishes
          WINDOW earlier AS (PARTITION BY host ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
      ), by_crawl AS MATERIALIZED (
        SELECT *, greatest(0, least(host_share, crawl_room - coalesce(sum(host_share) OVER earlier, 0))) AS crawl_share
          FROM by_host
          WINDOW earlier AS (PARTITION BY crawl_id ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
      ), by_owner AS MATERIALIZED (
        SELECT *, greatest(0, least(crawl_share, owner_room - coalesce(sum(crawl_share) OVER earlier, 0))) AS share
          FROM by_crawl
          WINDOW earlier AS (PARTITION BY owner ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
      ), rooms AS MATERIALIZED (
        SELECT *, greatest(0, least(share, take_max - taken - coalesce(sum(share) OVER earlier, 0)))::bigint AS room FROM by_owner
          WINDOW earlier AS (ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
      ), chosen AS MATERIALIZED (
        SELECT rooms.crawl_id, rooms.host, rooms.pause, w.number FROM rooms CROSS JOIN LATERAL (
            SELECT p.number FROM crawl_pages p WHERE p.crawl_id = rooms.crawl_id AND p.host = rooms.host AND p.state = 0
              ORDER BY p.crawl_id, p.host, p.number LIMIT rooms.room
          ) AS w WHERE rooms.room > 0
      ), moved_lanes AS (
        UPDATE crawl_lanes l SET waiting = l.waiting - got.count, ready_at = CASE
            WHEN rooms.share > 0 THEN now_at + rooms.delay_ms
            WHEN rooms.paced > 0 THEN now_at + busy_ms
            ELSE greatest(now_at + 1, rooms.next_at - rooms.tolerance) END
          FROM rooms CROSS JOIN LATERAL (
            SELECT count(*) FROM chosen WHERE chosen.crawl_id = rooms.crawl_id AND chosen.host = rooms.host
          ) AS got
          -- A lane for which only this take has no room stays due.
          WHERE l.crawl_id = rooms.crawl_id AND l.host = rooms.host AND (rooms.room > 0 OR rooms.share = 0)
      ), moved_hosts AS (
        UPDATE web_hosts h SET next_at = greatest(h.next_at, now_at) + got.count * got.pause
          FROM (SELECT host, pause, count(*) FROM chosen GROUP BY host, pause) AS got
          WHERE h.host = got.host AND got.pause > 0
      )
      UPDATE crawl_pages p SET state = 1, attempts = p.attempts + 1, lease_token = token, lease_until = until
        FROM chosen WHERE p.crawl_id = chosen.crawl_id AND p.number = chosen.number RETURNING p.*;
      GET DIAGNOSTICS got = ROW_COUNT;
      taken := taken + got;
    END LOOP;
  END $$;
`;

const isKnown = (row: string): string => `(SELECT c.kind FROM crawls c WHERE c.id = ${row}.crawl_id) = ANY (kinds)`;

/** The same, with the kinds of jobs that the node can work on. Nodes of the version before name none, and get those that they know. */
export const TAKE_FUNCTION_BY_KIND = TAKE_FUNCTION.replace(
  "owner_share double precision DEFAULT NULL",
  "$&, kinds text[] DEFAULT '{crawl,batch,extract}'",
)
  .replace("p.lease_until < now_at", `$& AND ${isKnown("p")}`)
  .replace("l.ready_at <= now_at", `$& AND ${isKnown("l")}`);
