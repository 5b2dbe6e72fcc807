/** The step of the local search; documented in SQLite's migrations. */
export const WEB_DOCUMENTS = `
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
`;
