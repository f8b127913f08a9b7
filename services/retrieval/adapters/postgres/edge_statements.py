"""The statement that reads the page graph: both steps in one round trip, neighbours by index, nothing computed.

Edges of pages that just changed may not be settled yet; so links are read beside them and count what they weigh alone.
Hubs have no edges: only by a link is one reached, and none is walked through.
"""

from shared.page_graph import LINK_WEIGHT


def _neighbours(page: str) -> str:
    """Return a lateral of a page's strongest neighbours, more than can be among the best; none for a hub."""
    return f"""LATERAL (
        WITH linked AS MATERIALIZED (
            SELECT other_id, {LINK_WEIGHT}::real * count(*) AS weight, count(*) OVER () AS degree
            FROM (
                (SELECT DISTINCT target_page_id AS other_id FROM links
                 WHERE page_id = {page} AND target_page_id IS NOT NULL AND target_page_id <> {page}
                 ORDER BY target_page_id LIMIT $4 + 1)
                UNION ALL
                (SELECT DISTINCT page_id FROM links WHERE target_page_id = {page} AND page_id <> {page}
                 ORDER BY page_id LIMIT $4 + 1)
            ) directed
            GROUP BY other_id
        )
        SELECT other_id, max(weight)::real AS weight, bool_or(hub) AS hub
        FROM (
            (SELECT other_id, weight, false AS hub FROM edges WHERE page_id = {page}
             ORDER BY weight DESC, other_id LIMIT least($3, $2 + cardinality($1)))
            UNION ALL
            SELECT other_id, weight, EXISTS (SELECT FROM edge_pages e WHERE e.page_id = other_id AND e.hub OFFSET 0)
            FROM linked
        ) every
        WHERE NOT EXISTS (SELECT FROM linked WHERE degree > $4)
        GROUP BY other_id ORDER BY weight DESC, other_id LIMIT $3
    )"""


NEIGHBOURS = f"""
WITH near AS MATERIALIZED (
    SELECT asked.page_id, n.*, n.weight * asked.standing AS rank
    FROM unnest($1::uuid[], $7::real[]) AS asked (page_id, standing) CROSS JOIN {_neighbours("asked.page_id")} n
), best AS MATERIALIZED (
    SELECT other_id AS page_id, max(rank) AS rank FROM near WHERE NOT hub AND NOT other_id = ANY ($1)
    GROUP BY other_id ORDER BY rank DESC, page_id LIMIT $2
), least_good AS MATERIALIZED (
    SELECT CASE WHEN count(*) = $2 THEN min(rank) ELSE 0 END AS rank FROM best
), found AS (
    SELECT near.page_id, near.other_id, near.weight FROM near, least_good WHERE near.rank >= least_good.rank
    UNION ALL
    SELECT b.page_id, n.other_id, n.weight
    FROM least_good, best b CROSS JOIN {_neighbours("b.page_id")} n
    WHERE $6 AND b.rank * $5::real > least_good.rank AND n.weight * $5::real > least_good.rank
)
SELECT f.page_id, p.title, p.slug, f.linked, f.weights
FROM (
    SELECT page_id, array_agg(other_id ORDER BY weight DESC, other_id) AS linked,
           array_agg(weight ORDER BY weight DESC, other_id) AS weights
    FROM found GROUP BY page_id
) f
CROSS JOIN LATERAL (SELECT title, slug FROM pages WHERE page_id = f.page_id OFFSET 0) p
"""
"""$1 pages and $7 their standing, at most 1; $2 pages wanted in the end, $3 and $4 limits of a page's neighbours and
links, $5 what a second step leaves of a weight, $6 whether there is one. Left out is what could not be among the best
$2, and not read what leads there."""
