import { bothEngines, together } from "../../../storage/index.ts";

export const STORED_OBJECTS = bothEngines(
  `
  -- Objects that upstreams store (output items, containers, files), by the user whose answer contained them. An id is its
  -- upstream's word, and no owner can take it from another.
  CREATE TABLE stored_objects (
    id          TEXT NOT NULL,
    provider    TEXT NOT NULL,
    kind        TEXT NOT NULL,
    owner       TEXT NOT NULL, -- the user
    key_id      TEXT NOT NULL, -- a hash of the API key that made it
    kept_until  INTEGER NOT NULL,
    PRIMARY KEY (id, provider, kind, owner)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX stored_objects_by_age ON stored_objects (kept_until);
  `,
  "id provider kind owner",
);

/**
 * Uploaded files and their quota. Both functions lock before they read, since the statements within a function see what others have
 * committed meanwhile: of two uploads for the last place, one gets it, and of two users one gets an id that an upstream gives to both.
 */
export const UPLOADED_FILES = together(
  bothEngines(`
  -- The size of a file that its owner uploaded: it counts for the owner's quota. Null for objects of answers, and in rows of
  -- a server of the previous step. An upload under way is a row of the kind upload, whose id is that of its request.
  ALTER TABLE stored_objects ADD COLUMN bytes INTEGER CHECK (bytes >= 0);
  CREATE INDEX stored_objects_with_size ON stored_objects (owner, kept_until, bytes) WHERE bytes IS NOT NULL;
  `),
  {
    postgres: `
  CREATE FUNCTION reserve_upload(
    new_id text, new_provider text, new_owner text, new_bytes bigint, new_until bigint, now_at bigint, files_max bigint,
    bytes_max numeric
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    used record;
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('tollgate files of ' || new_owner, 0));
    SELECT count(*) AS files, coalesce(sum(bytes), 0) AS bytes INTO used
      FROM stored_objects WHERE owner = new_owner AND bytes IS NOT NULL AND kept_until > now_at;
    IF used.files >= files_max OR used.bytes + new_bytes > bytes_max THEN RETURN false; END IF;
    INSERT INTO stored_objects (id, provider, kind, owner, key_id, kept_until, bytes)
      VALUES (new_id, new_provider, 'upload', new_owner, '', new_until, new_bytes);
    RETURN true;
  END $$;

  CREATE FUNCTION record_upload(
    upload_id text, new_id text, new_provider text, new_owner text, new_key text, new_bytes bigint, new_until bigint,
    now_at bigint
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('tollgate file ' || new_provider || ' ' || new_id, 0));
    DELETE FROM stored_objects
      WHERE id = upload_id AND provider = new_provider AND kind = 'upload' AND owner = new_owner;
    IF EXISTS (
      SELECT 1 FROM stored_objects
        WHERE id = new_id AND provider = new_provider AND kind = 'file' AND owner <> new_owner AND kept_until > now_at
    ) THEN RETURN false; END IF;
    INSERT INTO stored_objects (id, provider, kind, owner, key_id, kept_until, bytes)
      VALUES (new_id, new_provider, 'file', new_owner, new_key, new_until, new_bytes)
      ON CONFLICT (id, provider, kind, owner)
      DO UPDATE SET key_id = excluded.key_id, kept_until = excluded.kept_until, bytes = excluded.bytes;
    RETURN true;
  END $$;
  `,
  },
);
