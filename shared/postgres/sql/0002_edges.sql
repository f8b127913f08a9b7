-- The page graph: how strongly two pages belong together. Derived from pages and links; only the edge keeper of the
-- ingest service writes here, one keeper per vault at a time. No foreign keys: a page's row is replaced with every
-- revision, its edges stay.

-- Both directions of every pair, so that a page's strongest neighbours are one scan of an index.
CREATE TABLE edges (
    page_id        uuid NOT NULL,
    other_id       uuid NOT NULL,
    weight         real NOT NULL CHECK (weight > 0),  -- weighted sum of the parts below
    adamic_adar    real NOT NULL,                -- sum over common neighbours z of 1 / ln(max(degree(z), 2))
    affinity       real NOT NULL,                -- of the front matter types
    directions     smallint NOT NULL,            -- that a direct link goes: 0 to 2
    shared_sources smallint NOT NULL,            -- entries of front matter `sources` that both have
    PRIMARY KEY (page_id, other_id)
);
CREATE INDEX edges_by_weight ON edges (page_id, weight DESC, other_id);

-- What the edges were computed with, to tell what a change of a page changes around it.
CREATE TABLE edge_pages (
    page_id   uuid PRIMARY KEY,
    vault_id  text NOT NULL,
    degree    smallint NOT NULL,                 -- distinct linked pages, either direction; one above the limit: more
    hub       boolean NOT NULL,                  -- lists other pages: no edges, and no common neighbour of anything
    page_type text                               -- lower-case front matter `type`
);
CREATE INDEX edge_pages_by_vault ON edge_pages (vault_id);

CREATE TABLE edge_sources (
    vault_id text NOT NULL,
    source   bytea NOT NULL,                     -- 16 bytes of SHA-256: entries may be longer than an index takes
    page_id  uuid NOT NULL,
    PRIMARY KEY (vault_id, source, page_id)
);
CREATE INDEX edge_sources_by_page ON edge_sources (page_id, source);

-- Pages around which edges may be wrong: marked by the transaction that changes the page, gone with the edges' own.
CREATE TABLE edge_work (
    vault_id text NOT NULL,
    page_id  uuid NOT NULL,
    mark     bigint GENERATED ALWAYS AS IDENTITY,  -- rows are only ever added and removed, so that nobody waits
    PRIMARY KEY (vault_id, page_id, mark)
);

-- Limits and version of the computation; a keeper with others marks all pages.
CREATE TABLE edge_rules (
    always boolean PRIMARY KEY DEFAULT true CHECK (always),  -- one row
    rules  text NOT NULL
);
