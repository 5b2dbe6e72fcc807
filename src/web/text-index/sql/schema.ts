import { NO_CHANGE } from "../../../storage/index.ts";

/** Pages that a user has read, for the local search. */
export const WEB_DOCUMENTS = {
  sqlite: NO_CHANGE,
  webFile: `
  -- Pages that a user has read, for the local search. The words are in web_words, under the same id.
  CREATE TABLE web_documents (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    owner        TEXT NOT NULL, -- the user
    key          TEXT NOT NULL, -- equal for addresses of the same page
    url          TEXT NOT NULL,
    host         TEXT NOT NULL, -- from its end: com.example.
    extension    TEXT NOT NULL,
    title        TEXT NOT NULL,
    description  TEXT NOT NULL,
    stored_at    INTEGER NOT NULL,
    kept_until   INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX web_documents_by_key ON web_documents (owner, key);
  CREATE INDEX web_documents_by_moment ON web_documents (owner, stored_at, id);
  CREATE INDEX web_documents_by_age ON web_documents (kept_until);
  CREATE VIRTUAL TABLE web_words USING fts5(
    owner, title, description, text, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
  );
  `,
  postgres: `
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
  `,
};

export const MERGES_OF_WORDS = {
  webFile: `
  -- The index is merged in small slices, by the code that adds to it: by itself it merges for a tenth of a second at once.
  INSERT INTO web_words (web_words, rank) VALUES ('automerge', 0);
  INSERT INTO web_words (web_words, rank) VALUES ('crisismerge', 1000);
  `,
};

/**
 * What a page is found by besides its own words: its owner, its host and the domains above, the extension of its address, and the words
 * of its title once more, as lexemes that no text contains. The index of words alone then finds them. Nodes of the version before
 * write pages without them, hence the trigger, and search by the columns.
 *
 * The planner does not know that each look at a page's words unpacks them, and would rather look at all pages than use the index of
 * words: nothing else is left to it in `web_matching`, where the conditions on the other columns use no index.
 */
export const WEB_MARKS = {
  postgres: `
  CREATE FUNCTION web_marks(owner text, host text, extension text, title text)
  RETURNS tsvector LANGUAGE sql IMMUTABLE AS $$
    SELECT array_to_tsvector(ARRAY(
      SELECT 'o' || encode(convert_to(owner, 'UTF8'), 'hex')
      UNION SELECT 'type:' || extension
      UNION SELECT 'title:' || lexeme FROM unnest(to_tsvector('simple', title))
      UNION SELECT 'site:' || array_to_string(labels[1:depth], '.') || '.'
        FROM (SELECT string_to_array(rtrim(host, '.'), '.') AS labels) AS split, generate_series(1, cardinality(labels)) AS depth
    ))
  $$;
  CREATE FUNCTION web_mark() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      NEW.words := NEW.words || web_marks(NEW.owner, NEW.host, NEW.extension, NEW.title);
      RETURN NEW;
    END
  $$;
  CREATE TRIGGER web_documents_marked BEFORE INSERT OR UPDATE ON web_documents FOR EACH ROW EXECUTE FUNCTION web_mark();
  UPDATE web_documents SET key = key;
  -- KiB of words that wait to be put into the index: the page that fills the list waits for all of them.
  ALTER INDEX web_documents_by_words SET (gin_pending_list_limit = 256);

  CREATE FUNCTION web_matching(
    query tsquery, places tsquery, of_owner text, now_at bigint, looked_through bigint, most bigint
  ) RETURNS SETOF web_documents LANGUAGE sql STABLE
    SET enable_seqscan = off SET enable_indexscan = off SET jit = off AS $$
    SELECT * FROM (
      SELECT * FROM web_documents d
      WHERE d.words @@ query AND d.kept_until + 0 > now_at AND d.owner || '' = of_owner
      LIMIT CASE WHEN numnode(places) = 0 THEN most ELSE looked_through END
    ) AS found
    WHERE numnode(places) = 0 OR found.words @@ places LIMIT most
  $$;
  `,
};

/**
 * When a page was published, by its own word. Versions before leave it empty, as they leave out the stems of a page's words, which are
 * among its words: such a page is found by when it was read, and by its words as they are written.
 */
export const WEB_FILTERS = {
  sqlite: NO_CHANGE,
  webFile: "ALTER TABLE web_documents ADD COLUMN published_at INTEGER;",
  postgres: `
  ALTER TABLE web_documents ADD COLUMN published_at bigint;

  -- Like web_matching, with what the index of words does not decide: the time, parts of addresses (none of them in without), and
  -- lists of conditions of which one holds each.
  CREATE FUNCTION web_filtered(
    query tsquery, places tsquery, of_owner text, now_at bigint, looked_through bigint, most bigint,
    since_at bigint, until_at bigint, lists json, without json
  ) RETURNS SETOF web_documents LANGUAGE sql STABLE
    SET enable_seqscan = off SET enable_indexscan = off SET jit = off AS $$
    SELECT * FROM (
      SELECT * FROM web_documents d
      WHERE d.words @@ query AND d.kept_until + 0 > now_at AND d.owner || '' = of_owner
        AND coalesce(d.published_at, d.stored_at) >= since_at AND coalesce(d.published_at, d.stored_at) < until_at
        AND NOT EXISTS (SELECT FROM json_array_elements_text(without) AS part WHERE strpos(lower(d.url), part) > 0)
        AND NOT EXISTS (SELECT FROM json_array_elements(lists) AS list WHERE NOT EXISTS (
          SELECT FROM json_array_elements(list) AS term
          WHERE strpos(lower(d.url), term ->> 'address') > 0 OR d.words @@ (term ->> 'index')::tsquery))
      LIMIT CASE WHEN numnode(places) = 0 THEN most ELSE looked_through END
    ) AS found
    WHERE numnode(places) = 0 OR found.words @@ places LIMIT most
  $$;
  `,
};
