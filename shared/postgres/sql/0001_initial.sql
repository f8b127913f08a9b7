-- What is live in every vault. A chunk is live when a row of `chunks` says so; vectors without a row are invisible.

-- Stretches of FILES in which the position orders changes. A stream that is made anew, restored, or shortened by a power
-- cut begins a new epoch; the newest one counts.
CREATE TABLE stream_epochs (
    epoch       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    stream      text NOT NULL,                  -- creation time that the server gives the stream
    begun_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE spaces (
    name            text PRIMARY KEY,
    model           text NOT NULL,
    dimension       integer NOT NULL CHECK (dimension > 0),
    distance        text NOT NULL DEFAULT 'cosine',
    chunker_version integer NOT NULL,
    live            boolean NOT NULL DEFAULT false,
    created_at      timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX one_live_space ON spaces (live) WHERE live;

CREATE TABLE vaults (
    vault_id     text PRIMARY KEY,
    settings     jsonb NOT NULL,
    data_version bigint NOT NULL DEFAULT 0       -- grows with every change of what is live
);

CREATE TABLE pages (
    page_id      uuid PRIMARY KEY,
    vault_id     text NOT NULL REFERENCES vaults,
    path         text NOT NULL,                  -- NFC, relative to the vault
    disk_path    text NOT NULL,                  -- as the disk spells it
    revision     bigint NOT NULL,                -- epoch and stream position of the change that is live
    content_hash text NOT NULL,
    stem         text NOT NULL,                  -- lower-case file stem, for link resolution
    title        text NOT NULL CHECK (title <> ''),
    slug         text NOT NULL CHECK (slug <> ''),
    kind         text NOT NULL,                  -- first folder of the path, or 'page'
    language     text NOT NULL,                  -- ISO 639-1, decides stemming
    page_type    text,                           -- front matter `type`
    front_matter jsonb NOT NULL,
    sources      text[] NOT NULL DEFAULT '{}',   -- front matter `sources`
    problems     text[] NOT NULL DEFAULT '{}',   -- e.g. broken YAML; the page is indexed all the same
    changed_at   timestamptz NOT NULL DEFAULT now(),
    UNIQUE (vault_id, path)
);
CREATE INDEX pages_by_stem ON pages (vault_id, stem);

-- One row per file ever seen: the fence against old, late and repeated changes.
CREATE TABLE files (
    vault_id     text NOT NULL REFERENCES vaults,
    file_key     text NOT NULL,
    path         text NOT NULL,
    disk_path    text NOT NULL,
    revision     bigint NOT NULL,                -- newest change seen
    state        text NOT NULL CHECK (state IN ('indexed', 'rejected', 'removed')),
    page_id      uuid NOT NULL,
    content_hash text,
    config_hash  text NOT NULL,                  -- settings and code versions that the page was worked with
    reason       text,                           -- why rejected
    seen_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (vault_id, file_key)
);
CREATE INDEX files_by_revision ON files (revision);
CREATE INDEX files_by_state ON files (vault_id, state);
CREATE INDEX files_by_config ON files (vault_id, config_hash);

CREATE TABLE chunks (
    chunk_id     uuid PRIMARY KEY,
    page_id      uuid NOT NULL REFERENCES pages ON DELETE CASCADE,
    vault_id     text NOT NULL,
    chunk_index  integer NOT NULL,
    content_hash text NOT NULL,                  -- of `text`
    text_hash    text NOT NULL,                  -- of the text that is embedded (title, headings, body)
    point_hash   text NOT NULL,                  -- of payload and lexical text: the point is rewritten when it changes
    heading_path text[] NOT NULL,
    char_start   integer NOT NULL,               -- half-open range in the decoded file
    char_end     integer NOT NULL,
    line_start   integer NOT NULL,               -- from 1, half-open
    line_end     integer NOT NULL,
    token_count  integer NOT NULL,
    text         text NOT NULL,                  -- the span itself
    embed_text   text NOT NULL,                  -- what is embedded: a new space is built from it
    embedded_in  text                            -- space whose dense vector the point has, null: none yet
);
-- Texts lie outside of the row, uncompressed: to mark a chunk as embedded then rewrites some 200 bytes, not its text.
ALTER TABLE chunks SET (toast_tuple_target = 256);
ALTER TABLE chunks ALTER COLUMN text SET STORAGE EXTERNAL, ALTER COLUMN embed_text SET STORAGE EXTERNAL;
CREATE INDEX chunks_by_page ON chunks (page_id, chunk_index);
CREATE INDEX chunks_by_text ON chunks (text_hash);
CREATE INDEX chunks_not_embedded ON chunks (vault_id) WHERE embedded_in IS NULL;

-- Every vector once: an unchanged text is never embedded again, not even after the vector store is wiped.
CREATE TABLE embeddings (
    space     text NOT NULL REFERENCES spaces ON DELETE CASCADE,
    text_hash text NOT NULL,
    vector    bytea NOT NULL,                    -- float32, little-endian
    made_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (space, text_hash)
);
ALTER TABLE embeddings ALTER COLUMN vector SET STORAGE PLAIN;

CREATE TABLE links (
    page_id        uuid NOT NULL REFERENCES pages ON DELETE CASCADE,
    ordinal        integer NOT NULL,
    vault_id       text NOT NULL,
    target         text NOT NULL,                -- as written
    target_stem    text NOT NULL,                -- lower-case file stem: finds the links that a new or gone page changes
    fragment       text,                         -- heading or block after #
    kind           text NOT NULL CHECK (kind IN ('wikilink', 'embed', 'markdown')),
    char_start     integer NOT NULL,
    state          text NOT NULL CHECK (state IN ('resolved', 'dead', 'ambiguous')),
    target_page_id uuid,
    PRIMARY KEY (page_id, ordinal)
);
CREATE INDEX links_by_stem ON links (vault_id, target_stem);
-- Both directions of the page graph, in the order in which the walk reads them, from the index alone.
CREATE INDEX links_by_target ON links (target_page_id, page_id) WHERE target_page_id IS NOT NULL;
CREATE INDEX links_by_source ON links (page_id, target_page_id) WHERE target_page_id IS NOT NULL;
CREATE INDEX links_not_resolved ON links (vault_id, state) WHERE state <> 'resolved';
