"""The statements of PostgresLivePages. Each joins from the vault's row, so that one that is unknown gives no row.

`OFFSET 0` keeps the planner from joining by vault first, as it does while the tables of a vault just loaded have no
statistics: each row wanted is looked up by its key.
"""

_LIVE_CHUNK = """
    c.chunk_id, c.page_id, c.chunk_index, c.content_hash, c.heading_path, c.char_start, c.char_end, c.line_start,
    c.line_end, c.token_count, c.text, p.title, p.slug, p.path, p.disk_path, p.revision, newer.disk_path AS source_path,
    newer.written_on AS source_date, newer.dated_by_file, p.as_of
"""
"""In the order of LiveChunk's fields, then those of NewerSource."""

_NEWER_SOURCE = """LEFT JOIN LATERAL (
        SELECT disk_path, written_on, dated_by_file FROM pages WHERE page_id = p.newer_source OFFSET 0
    ) newer ON true"""
"""Of most pages there is none, and nothing is looked up."""

_VAULT_STATE = "v.data_version, v.settings -> 'never_cite' AS never_cite"

_NEVER_CITED = """EXISTS (
            SELECT FROM jsonb_array_elements_text(coalesce(v.settings -> 'never_cite', '["raw/"]')) AS prefix
            WHERE starts_with(p.path, prefix)
        )"""

VAULT = f"""
SELECT {_VAULT_STATE}, (SELECT name FROM spaces WHERE live) AS space,
       NOT EXISTS (SELECT FROM vaults o WHERE o.vault_id <> v.vault_id) AS alone
FROM vaults v WHERE v.vault_id = $1
"""

TRAITS = f"""
SELECT ARRAY(SELECT DISTINCT language FROM pages WHERE vault_id = $1 ORDER BY language) AS languages,
       ARRAY(SELECT page_id FROM pages WHERE vault_id = $1 AND stem = ANY ($2::text[]) LIMIT 10000) AS hubs,
       EXISTS (
           SELECT FROM pages p
           WHERE p.vault_id = v.vault_id AND {_NEVER_CITED}
       ) AS uncited
FROM vaults v WHERE v.vault_id = $1
"""

CHUNKS = f"""
SELECT {_VAULT_STATE}, live.*
FROM vaults v
LEFT JOIN LATERAL (
    SELECT {_LIVE_CHUNK}
    FROM unnest($2::uuid[]) WITH ORDINALITY AS wanted (chunk_id, rank)
    CROSS JOIN LATERAL (
        SELECT * FROM chunks WHERE chunk_id = wanted.chunk_id AND vault_id = v.vault_id OFFSET 0
    ) c
    JOIN pages p ON p.page_id = c.page_id
    {_NEWER_SOURCE}
    ORDER BY wanted.rank
) live ON true
WHERE v.vault_id = $1
"""

BESIDE = f"""
SELECT {_VAULT_STATE}, live.*
FROM vaults v
LEFT JOIN LATERAL (
    SELECT {_LIVE_CHUNK}
    FROM unnest($2::uuid[]) WITH ORDINALITY AS wanted (chunk_id, rank)
    CROSS JOIN LATERAL (
        SELECT page_id, chunk_index FROM chunks WHERE chunk_id = wanted.chunk_id AND vault_id = v.vault_id OFFSET 0
    ) w
    JOIN chunks c ON c.page_id = w.page_id AND c.chunk_index IN (w.chunk_index - 1, w.chunk_index + 1)
    JOIN pages p ON p.page_id = c.page_id
    {_NEWER_SOURCE}
    ORDER BY wanted.rank, c.chunk_index
) live ON true
WHERE v.vault_id = $1
"""

OPENINGS = f"""
SELECT {_VAULT_STATE}, live.*
FROM vaults v
LEFT JOIN LATERAL (
    SELECT {_LIVE_CHUNK}
    FROM (
        SELECT p.*, reached.rank, coalesce(
            best.chunk_id,
            CASE WHEN $4 THEN
                (SELECT o.chunk_id FROM chunks o WHERE o.page_id = p.page_id ORDER BY o.chunk_index LIMIT 1)
            END
        ) AS chosen
        FROM unnest($2::uuid[]) WITH ORDINALITY AS reached (page_id, rank)
        CROSS JOIN LATERAL (
            SELECT * FROM pages WHERE page_id = reached.page_id AND vault_id = v.vault_id OFFSET 0
        ) p
        LEFT JOIN (
            SELECT DISTINCT ON (h.page_id) h.page_id, h.chunk_id
            FROM unnest($3::uuid[]) WITH ORDINALITY AS found (chunk_id, rank)
            JOIN chunks h ON h.chunk_id = found.chunk_id
            ORDER BY h.page_id, found.rank
        ) best ON best.page_id = p.page_id
        WHERE NOT {_NEVER_CITED}
    ) p
    JOIN chunks c ON c.chunk_id = p.chosen
    {_NEWER_SOURCE}
    ORDER BY p.rank
    LIMIT $5
) live ON true
WHERE v.vault_id = $1
"""

OUTLINE = """
SELECT v.data_version, p.title, p.slug, p.disk_path, p.path, c.chunk_id, c.chunk_index, c.content_hash,
    ARRAY(
        SELECT f.path FROM files f
        WHERE f.vault_id = $1 AND f.page_id = $2 AND f.path <> p.path
        ORDER BY f.revision DESC LIMIT 7
    ) AS former_paths
FROM vaults v
LEFT JOIN pages p ON p.vault_id = v.vault_id AND p.page_id = $2
LEFT JOIN chunks c ON c.page_id = p.page_id
WHERE v.vault_id = $1
ORDER BY c.chunk_index
"""
"""The newest path first. `files` has no index by page: it scans the vault's rows, but only when a citation changed."""
