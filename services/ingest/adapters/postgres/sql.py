"""The worker's statements. Arrays carry many rows in one round trip."""

LOCK = "SELECT pg_advisory_xact_lock(key) FROM unnest($1::bigint[]) AS key"

SLOTS = """
SELECT file_key, path, disk_path, revision, state, page_id, content_hash, config_hash, reason
FROM files WHERE vault_id = $1 AND file_key = ANY($2)
"""

PAGES_OF_SLOTS = """
SELECT p.page_id FROM files f JOIN pages p ON p.vault_id = f.vault_id AND p.path = f.path
WHERE f.vault_id = $1 AND f.file_key = ANY($2)
"""

PAGES = """
SELECT page_id, path, disk_path, revision, content_hash, stem
FROM pages WHERE page_id = ANY($2) OR (vault_id = $1 AND path = ANY($3))
"""

CHUNKS = """
SELECT page_id, chunk_id, point_hash, text_hash, embedded_in
FROM chunks WHERE page_id = ANY($1) ORDER BY page_id, chunk_index
"""

DATA_VERSION = "SELECT data_version FROM vaults WHERE vault_id = $1"

VECTORS = "SELECT text_hash, vector FROM embeddings WHERE space = $1 AND text_hash = ANY($2)"

WRITE_SLOTS = """
INSERT INTO files (vault_id, file_key, path, disk_path, revision, state, page_id, content_hash, config_hash, reason)
SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::uuid[], $8::text[],
                         $9::text[], $10::text[])
ON CONFLICT (vault_id, file_key) DO UPDATE SET
    path = excluded.path, disk_path = excluded.disk_path, revision = excluded.revision, state = excluded.state,
    page_id = excluded.page_id, content_hash = excluded.content_hash, config_hash = excluded.config_hash,
    reason = excluded.reason, seen_at = now()
"""

DROP_PAGES = """
WITH unlinked AS (
    DELETE FROM links WHERE page_id = ANY($1) RETURNING page_id, target_page_id
), dropped AS (
    DELETE FROM pages WHERE page_id = ANY($1) RETURNING page_id, stem, page_type, sources
)
SELECT d.page_id, d.stem, d.page_type, d.sources,
       array_agg(DISTINCT u.target_page_id) FILTER (WHERE u.target_page_id <> d.page_id) AS targets
FROM dropped d LEFT JOIN unlinked u USING (page_id) GROUP BY d.page_id, d.stem, d.page_type, d.sources
"""
"""Returns what the pages' edges came from; links are deleted by name, so that none changes in between."""

MARK_EDGES = "INSERT INTO edge_work (vault_id, page_id) SELECT $1, unnest($2::uuid[])"

NEXT_DATA_VERSION = "UPDATE vaults SET data_version = data_version + 1 WHERE vault_id = $1 RETURNING data_version"

PAGE_COLUMNS = (
    "page_id", "vault_id", "path", "disk_path", "stem", "revision", "content_hash", "title", "slug", "kind",
    "language", "page_type", "front_matter", "fields", "sources", "problems", "as_of", "written_on", "dated_by_file",
)  # fmt: skip

CHUNK_COLUMNS = (
    "chunk_id", "page_id", "vault_id", "chunk_index", "content_hash", "text_hash", "point_hash", "heading_path",
    "char_start", "char_end", "line_start", "line_end", "token_count", "text", "embed_text", "embedded_in",
)  # fmt: skip

LINK_COLUMNS = (
    "page_id", "ordinal", "vault_id", "target", "target_stem", "fragment", "kind", "char_start", "state",
    "target_page_id",
)  # fmt: skip

LINKS_BY_STEM = """
SELECT l.page_id, l.ordinal, l.target, l.target_stem, l.fragment, l.kind, l.char_start, l.state, l.target_page_id,
       p.path
FROM links l JOIN pages p USING (page_id)
WHERE l.vault_id = $1 AND l.target_stem = ANY($2) AND NOT l.page_id = ANY($3)
"""

PAGES_BY_STEM = "SELECT page_id, path, stem FROM pages WHERE vault_id = $1 AND stem = ANY($2)"

UPDATE_LINKS = """
UPDATE links SET state = new.state, target_page_id = new.target_page_id
FROM unnest($1::uuid[], $2::integer[], $3::text[], $4::uuid[]) AS new (page_id, ordinal, state, target_page_id)
WHERE links.page_id = new.page_id AND links.ordinal = new.ordinal
"""

SOURCE_COLUMNS = ("page_id", "ordinal", "vault_id", "target", "target_stem", "source_page_id")

SOURCES_BY_STEM = """
SELECT o.page_id, o.ordinal, o.target, o.target_stem, o.source_page_id, p.path
FROM page_sources o JOIN pages p USING (page_id)
WHERE o.vault_id = $1 AND o.target_stem = ANY($2) AND NOT o.page_id = ANY($3)
"""

UPDATE_SOURCES = """
UPDATE page_sources SET source_page_id = new.source_page_id
FROM unnest($1::uuid[], $2::integer[], $3::uuid[]) AS new (page_id, ordinal, source_page_id)
WHERE page_sources.page_id = new.page_id AND page_sources.ordinal = new.ordinal
"""

NOTE_NEWER_SOURCES = """
WITH never_cited AS MATERIALIZED (
    SELECT prefix FROM vaults, jsonb_array_elements_text(coalesce(settings -> 'never_cite', '["raw/"]')) AS prefix
    WHERE vault_id = $1
), resting AS (
    SELECT page_id FROM unnest($2::uuid[]) AS page_id
    UNION SELECT o.page_id FROM page_sources o WHERE o.source_page_id = ANY($2)
    UNION SELECT p.page_id FROM pages p WHERE p.newer_source = ANY($2)
    UNION SELECT l.page_id
    FROM (
        SELECT page_id FROM pages JOIN never_cited ON starts_with(path, prefix) WHERE page_id = ANY($2) OFFSET 0
    ) s
    JOIN links l ON l.target_page_id = s.page_id
), outdated AS (
    SELECT p.page_id, newest.page_id AS newer_source
    FROM resting JOIN pages p USING (page_id) LEFT JOIN LATERAL (
        SELECT s.page_id
        FROM (
            SELECT source_page_id AS page_id, true AS named FROM page_sources WHERE page_id = p.page_id
            UNION ALL
            SELECT target_page_id, false FROM links WHERE page_id = p.page_id AND target_page_id IS NOT NULL
        ) source
        CROSS JOIN LATERAL (
            SELECT page_id, path, written_on FROM pages
            WHERE page_id = source.page_id AND written_on > p.as_of OFFSET 0
        ) s
        WHERE s.page_id <> p.page_id
            AND (source.named OR EXISTS (SELECT FROM never_cited WHERE starts_with(s.path, prefix)))
        ORDER BY s.written_on DESC, s.path LIMIT 1
    ) newest ON true
    WHERE p.newer_source IS DISTINCT FROM newest.page_id
), free AS (
    SELECT page_id FROM pages WHERE page_id IN (SELECT page_id FROM outdated) FOR UPDATE SKIP LOCKED
)
UPDATE pages SET newer_source = outdated.newer_source
FROM outdated JOIN free USING (page_id) WHERE pages.page_id = outdated.page_id
"""
"""For pages that changed and those that rest on them: by name, by a link, or by what was noted before."""

EPOCH = """
SELECT epoch AS number, stream, (SELECT coalesce(max(revision), 0) FROM files) AS highest_revision
FROM stream_epochs ORDER BY epoch DESC LIMIT 1
"""

BEGIN_EPOCH = "INSERT INTO stream_epochs (stream) VALUES ($1) RETURNING epoch"

ENSURE_VAULT = """
INSERT INTO vaults (vault_id, settings) VALUES ($1, $2)
ON CONFLICT (vault_id) DO UPDATE SET settings = excluded.settings WHERE vaults.settings <> excluded.settings
"""

OUTDATED = """
SELECT file_key FROM files
WHERE vault_id = $1 AND config_hash <> $2 AND state <> 'removed' ORDER BY file_key LIMIT $3
"""

NEEDED = """
SELECT c.chunk_id, c.text_hash, e.vector
FROM chunks c LEFT JOIN embeddings e ON e.space = $1 AND e.text_hash = c.text_hash
WHERE c.text_hash = ANY($2) AND c.embedded_in IS DISTINCT FROM $1
"""

KEEP_VECTORS = """
WITH hasty AS (SELECT set_config('synchronous_commit', 'off', true))
INSERT INTO embeddings (space, text_hash, vector)
SELECT $1, made.text_hash, made.vector FROM unnest($2::text[], $3::bytea[]) AS made (text_hash, vector), hasty
ON CONFLICT DO NOTHING
"""
"""Not forced to the disk by itself: MARK, a moment later, forces both; what a power cut takes is embedded again."""

MARK = """
UPDATE chunks SET embedded_in = $1
FROM unnest($2::uuid[], $3::text[]) AS done (chunk_id, text_hash)
WHERE chunks.chunk_id = done.chunk_id AND chunks.text_hash = done.text_hash
RETURNING page_id
"""

COMPLETE = """
SELECT page_id, vault_id, path, revision FROM pages p
WHERE page_id = ANY($2)
  AND NOT EXISTS (SELECT FROM chunks c WHERE c.page_id = p.page_id AND c.embedded_in IS DISTINCT FROM $1)
"""

MISSING = """
SELECT chunk_id, text_hash, embed_text FROM chunks
WHERE embedded_in IS DISTINCT FROM $1 AND ($2::uuid IS NULL OR chunk_id > $2) ORDER BY chunk_id LIMIT $3
"""

COUNTS = """
SELECT (SELECT count(*) FROM pages WHERE vault_id = v.vault_id) AS pages,
       count(c.chunk_id) AS chunks,
       count(c.embedded_in) AS embedded_chunks,
       coalesce(sum(octet_length(c.text)), 0)::bigint AS text_bytes,
       v.data_version
FROM vaults v LEFT JOIN chunks c USING (vault_id) WHERE v.vault_id = $1 GROUP BY v.vault_id
"""

SLOT_COUNTS = """
SELECT count(*) FILTER (WHERE state = 'rejected') AS rejected, count(*) FILTER (WHERE state = 'removed') AS removed,
       coalesce(max(revision), 0) AS last_revision
FROM files WHERE vault_id = $1
"""

LINK_COUNTS = """
SELECT count(*) FILTER (WHERE state = 'dead') AS dead, count(*) FILTER (WHERE state = 'ambiguous') AS ambiguous
FROM links WHERE vault_id = $1 AND state <> 'resolved'
"""

REJECTED = """
SELECT f.disk_path, f.reason, EXISTS (SELECT FROM pages p WHERE p.vault_id = f.vault_id AND p.path = f.path) AS live
FROM files f WHERE f.vault_id = $1 AND f.state = 'rejected' ORDER BY f.path LIMIT $2
"""

SPACES = "SELECT name, model, dimension, live FROM spaces ORDER BY created_at"

PRUNE_VECTORS = """
DELETE FROM embeddings e WHERE made_at < now() - make_interval(days => $1)
  AND NOT EXISTS (SELECT FROM chunks c WHERE c.text_hash = e.text_hash)
"""

LIVE_IDS = "SELECT chunk_id FROM chunks WHERE chunk_id > $1 ORDER BY chunk_id LIMIT $2"

POINTS = """
SELECT c.chunk_id, c.text_hash, c.embed_text, p.*
FROM chunks c JOIN pages p USING (page_id) WHERE c.chunk_id = ANY($1)
"""

UNMARK = "UPDATE chunks SET embedded_in = NULL WHERE chunk_id = ANY($1)"
