"""The edge keeper's statements: set-based, their cost bounded by what is marked and by the limits of EdgeRules.

They are planned without nested loops (BEGIN), as nothing is known of how many rows a step gives; where a table is to be
read by its key, `LATERAL … OFFSET 0` leaves the planner no choice. Words: a page is *open* when it is known and no hub;
it *waits* when it is marked and not in this batch. A pair with an end that waits is left to that page's batch, so that
a bulk load computes each pair once.
"""

BEGIN = """
SELECT set_config('synchronous_commit', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true),
       set_config('enable_nestloop', 'off', true), set_config('enable_seqscan', 'off', true),
       set_config('jit', 'off', true), pg_try_advisory_xact_lock($1) AS mine
"""
"""Not forced to the disk: a power cut takes edges and the removal of their marks alike."""

MARKED_VAULTS = "SELECT DISTINCT vault_id FROM edge_work ORDER BY vault_id"

CLAIM = """
DELETE FROM edge_work WHERE vault_id = $1 AND page_id <= (
    SELECT page_id FROM (SELECT DISTINCT page_id FROM edge_work WHERE vault_id = $1 ORDER BY page_id LIMIT $2) first
    ORDER BY page_id DESC LIMIT 1
)
RETURNING page_id
"""

RULES = "SELECT rules FROM edge_rules"

MARK_ALL = """
INSERT INTO edge_work (vault_id, page_id)
SELECT vault_id, page_id FROM pages UNION SELECT vault_id, page_id FROM edge_pages
"""

SET_RULES = "INSERT INTO edge_rules (rules) VALUES ($1) ON CONFLICT (always) DO UPDATE SET rules = excluded.rules"


def _linked(page: str, limit: str) -> str:
    """Return a query of the pages linked with `page` and in how many directions; complete up to `limit` pages."""
    return f"""(
        SELECT other_id, count(*)::smallint AS directions, count(*) OVER () AS degree
        FROM (
            (SELECT DISTINCT target_page_id AS other_id FROM links
             WHERE page_id = {page} AND target_page_id IS NOT NULL AND target_page_id <> {page}
             ORDER BY target_page_id LIMIT {limit})
            UNION ALL
            (SELECT DISTINCT page_id FROM links WHERE target_page_id = {page} AND page_id <> {page}
             ORDER BY page_id LIMIT {limit})
        ) directed
        GROUP BY other_id
    )"""


def _waits(page: str) -> str:
    return f"EXISTS (SELECT FROM edge_work WHERE vault_id = $1 AND page_id = {page} OFFSET 0)"


def _open(page: str) -> str:
    """Return a lateral of one row with type and what the page gives as a common neighbour; none when it is not open."""
    return f"""LATERAL (
        SELECT page_type, 1 / ln(greatest(degree, 2)) AS spread FROM edge_pages
        WHERE page_id = {page} AND NOT hub OFFSET 0
    )"""


def _settled(page: str) -> str:
    return f"""EXISTS (SELECT FROM edge_pages WHERE page_id = {page} AND NOT hub OFFSET 0)
        AND NOT {page} = ANY ($2) AND NOT {_waits(page)}"""


def _shared(source: str) -> str:
    """Return a condition: few enough pages name the source."""
    return f"""(
        SELECT count(*) FROM (SELECT FROM edge_sources WHERE vault_id = $1 AND source = {source} LIMIT $6 + 1) sharing
    ) <= $6"""


PAGES = f"""
WITH before AS MATERIALIZED (
    SELECT page_id, CASE WHEN NOT hub THEN greatest(degree, 2) END AS spread FROM edge_pages WHERE page_id = ANY ($2)
), now AS MATERIALIZED (
    SELECT p.page_id, n.degree, n.degree > $3 OR p.stem = ANY ($4) AS hub, p.page_type
    FROM unnest($2::uuid[]) AS dirty (page_id)
    CROSS JOIN LATERAL (
        SELECT page_id, stem, lower(btrim(page_type)) AS page_type FROM pages
        WHERE page_id = dirty.page_id AND vault_id = $1 OFFSET 0
    ) p
    CROSS JOIN LATERAL (SELECT least(count(*), $3 + 1) AS degree FROM {_linked("p.page_id", "$3 + 1")} l) n
), gone AS (
    DELETE FROM edge_pages WHERE page_id = ANY ($2) AND NOT page_id = ANY (ARRAY(SELECT page_id FROM now))
), put AS (
    INSERT INTO edge_pages (page_id, vault_id, degree, hub, page_type)
    SELECT page_id, $1, degree, hub, page_type FROM now
    ON CONFLICT (page_id) DO UPDATE SET degree = excluded.degree, hub = excluded.hub, page_type = excluded.page_type
)
SELECT page_id FROM before FULL JOIN now USING (page_id)
WHERE before.spread IS DISTINCT FROM CASE WHEN NOT now.hub THEN greatest(now.degree, 2) END
"""
"""Records the marked pages and returns those that count otherwise as a common neighbour now."""

SOURCES = """
WITH now AS MATERIALIZED (
    SELECT DISTINCT p.page_id, substring(sha256(convert_to(entry, 'UTF8')) FOR 16) AS source
    FROM unnest($2::uuid[]) AS dirty (page_id)
    CROSS JOIN LATERAL (
        SELECT page_id, sources FROM pages WHERE page_id = dirty.page_id AND vault_id = $1 OFFSET 0
    ) p
    CROSS JOIN LATERAL unnest(p.sources[1:$3]) AS entry
), before AS MATERIALIZED (
    SELECT s.page_id, s.source FROM unnest($2::uuid[]) AS dirty (page_id)
    CROSS JOIN LATERAL (SELECT page_id, source FROM edge_sources WHERE page_id = dirty.page_id OFFSET 0) s
), lost AS MATERIALIZED (
    SELECT page_id, source FROM before EXCEPT SELECT page_id, source FROM now
), gained AS MATERIALIZED (
    SELECT page_id, source FROM now EXCEPT SELECT page_id, source FROM before
), removed AS (
    DELETE FROM edge_sources WHERE ctid = ANY (ARRAY(
        SELECT s.ctid FROM lost CROSS JOIN LATERAL (
            SELECT ctid FROM edge_sources WHERE page_id = lost.page_id AND source = lost.source OFFSET 0
        ) s
    ))
), added AS (
    INSERT INTO edge_sources (vault_id, source, page_id) SELECT $1, source, page_id FROM gained
)
SELECT source, count(*) FILTER (WHERE up) AS gained, count(*) FILTER (WHERE NOT up) AS lost
FROM (SELECT source, true AS up FROM gained UNION ALL SELECT source, false FROM lost) changed GROUP BY source
"""
"""Records the marked pages' sources and returns how many pages each source gained and lost."""

_DIRTY = f"""
dirty AS MATERIALIZED (
    SELECT DISTINCT page_id FROM unnest($2::uuid[]) AS page_id
), centre AS MATERIALIZED (
    SELECT d.page_id FROM dirty d CROSS JOIN {_open("d.page_id")} o
), near AS MATERIALIZED (
    SELECT c.page_id, n.other_id, n.directions FROM centre c CROSS JOIN {"LATERAL " + _linked("c.page_id", "$5 + 1")} n
)"""
"""Marked pages; those that may have edges; what these are linked with."""

_TOUCHED = f"""
stirred AS MATERIALIZED (
    SELECT z.page_id, n.other_id FROM unnest($3::uuid[]) AS z (page_id)
    CROSS JOIN LATERAL {_linked("z.page_id", "NULL")} n WHERE {_settled("n.other_id")}
), crowd AS MATERIALIZED (
    SELECT g.source, m.page_id
    FROM unnest($4::bytea[], $7::bigint[], $8::bigint[]) AS g (source, gained, lost)
    CROSS JOIN LATERAL (
        SELECT count(*) AS size FROM (
            SELECT FROM edge_sources WHERE vault_id = $1 AND source = g.source LIMIT $6 + g.gained + 1
        ) sharing
    ) n
    CROSS JOIN LATERAL (SELECT page_id FROM edge_sources WHERE vault_id = $1 AND source = g.source OFFSET 0) m
    WHERE (n.size <= $6) <> (n.size - g.gained + g.lost <= $6) AND {_settled("m.page_id")}
), touched AS MATERIALIZED (
    SELECT x.other_id AS a, y.other_id AS b
    FROM stirred x JOIN stirred y ON y.page_id = x.page_id AND x.other_id < y.other_id
    UNION
    SELECT x.page_id, y.page_id FROM crowd x JOIN crowd y ON y.source = x.source AND x.page_id < y.page_id
)"""
"""Pairs of pages that are not marked themselves: a common neighbour counts otherwise, or a source passed its limit."""

_AROUND = f"""
ring AS MATERIALIZED (
    SELECT r.page_id, o.spread
    FROM (SELECT other_id AS page_id FROM near UNION SELECT a FROM touched UNION SELECT b FROM touched) r
    CROSS JOIN {_open("r.page_id")} o
), around AS MATERIALIZED (
    SELECT r.page_id, r.spread, n.other_id, n.directions, n.degree
    FROM ring r CROSS JOIN LATERAL {_linked("r.page_id", "$5 + 1")} n
), held AS MATERIALIZED (
    SELECT t.page_id, s.source FROM (SELECT a AS page_id FROM touched UNION SELECT b FROM touched) t
    CROSS JOIN LATERAL (SELECT source FROM edge_sources WHERE page_id = t.page_id OFFSET 0) s
    WHERE {_shared("s.source")}
)"""

_PARTS = f"""
parts AS (
    SELECT page_id AS a, other_id AS b, directions, 0 AS shared, 0 AS spread FROM near
    UNION ALL
    SELECT n.page_id, z.other_id, 0, 0, z.spread FROM near n JOIN around z ON z.page_id = n.other_id
    WHERE z.other_id <> n.page_id AND z.degree <= $5
    UNION ALL
    SELECT c.page_id, m.page_id, 0, 1, 0 FROM centre c
    CROSS JOIN LATERAL (SELECT source FROM edge_sources WHERE page_id = c.page_id OFFSET 0) s
    CROSS JOIN LATERAL (SELECT page_id FROM edge_sources WHERE vault_id = $1 AND source = s.source LIMIT $6) m
    WHERE m.page_id <> c.page_id AND {_shared("s.source")}
    UNION ALL
    SELECT t.a, t.b, x.directions, 0, 0 FROM touched t JOIN around x ON x.page_id = t.a AND x.other_id = t.b
    UNION ALL
    SELECT t.a, t.b, 0, 0, o.spread
    FROM touched t JOIN around x ON x.page_id = t.a JOIN around y ON y.page_id = t.b AND y.other_id = x.other_id
    CROSS JOIN {_open("x.other_id")} o
    UNION ALL
    SELECT t.a, t.b, 0, 1, 0
    FROM touched t JOIN held x ON x.page_id = t.a JOIN held y ON y.page_id = t.b AND y.source = x.source
), summed AS MATERIALIZED (
    SELECT a, b, sum(directions)::smallint AS directions, least(sum(shared), 32767)::smallint AS shared,
           round(sum(spread)::numeric, 4)::real AS spread
    FROM parts GROUP BY a, b
), typed AS MATERIALIZED (
    SELECT s.*, one.page_type AS one, other.page_type AS other
    FROM summed s CROSS JOIN {_open("s.a")} one CROSS JOIN {_open("s.b")} other
    WHERE NOT (s.a > s.b AND s.b = ANY ($2)) AND NOT {_waits("s.b")}
), fresh AS MATERIALIZED (
    SELECT t.*, coalesce(f.affinity, 0)::real AS affinity
    FROM typed t LEFT JOIN unnest($9::text[], $10::text[], $11::real[]) AS f (one, other, affinity) USING (one, other)
), wanted AS MATERIALIZED (
    SELECT a AS page_id, b AS other_id, directions, shared, spread, affinity FROM fresh
    UNION ALL
    SELECT b, a, directions, shared, spread, affinity FROM fresh
)"""
"""Sums are rounded, so that they are the same in whatever order they were added."""

_WRITES = f"""
doubtful AS (
    SELECT d.page_id AS a, e.other_id AS b FROM dirty d
    CROSS JOIN LATERAL (SELECT other_id FROM edges WHERE page_id = d.page_id OFFSET 0) e
    WHERE NOT {_waits("e.other_id")}
    UNION
    SELECT a, b FROM touched
), unwanted AS MATERIALIZED (
    SELECT a, b FROM doubtful EXCEPT SELECT page_id, other_id FROM wanted
), gone AS (
    DELETE FROM edges WHERE ctid = ANY (ARRAY(
        SELECT e.ctid FROM (SELECT a, b FROM unwanted UNION SELECT b, a FROM unwanted) u
        CROSS JOIN LATERAL (SELECT ctid FROM edges WHERE page_id = u.a AND other_id = u.b OFFSET 0) e
    ))
    RETURNING page_id
), put AS (
    INSERT INTO edges (page_id, other_id, weight, adamic_adar, affinity, directions, shared_sources)
    SELECT page_id, other_id, $12 * directions + $13 * shared + $14 * spread + $15 * affinity,
           spread, affinity, directions, shared
    FROM wanted
    ON CONFLICT (page_id, other_id) DO UPDATE SET
        weight = excluded.weight, adamic_adar = excluded.adamic_adar, affinity = excluded.affinity,
        directions = excluded.directions, shared_sources = excluded.shared_sources
    WHERE (edges.weight, edges.adamic_adar, edges.affinity, edges.directions, edges.shared_sources)
        IS DISTINCT FROM
        (excluded.weight, excluded.adamic_adar, excluded.affinity, excluded.directions, excluded.shared_sources)
    RETURNING page_id
)
SELECT (SELECT count(*) FROM put) AS written, (SELECT count(*) FROM gone) AS removed"""

SETTLE = "WITH " + ",".join((_DIRTY, _TOUCHED, _AROUND, _PARTS, _WRITES))
"""$1 vault, $2 marked pages, $3 what PAGES returned, $4 $7 $8 what SOURCES returned, $5 and $6 the limits of degree and
sources, $9–$11 affinities, $12–$15 weights of links, sources, common neighbours and affinity."""
