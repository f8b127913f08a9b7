-- How old a page is, against the sources that it rests on: a page whose source is newer is marked in citations.
-- Days, not moments: that is what front matter says. Null: not known, and so never older than anything.
ALTER TABLE pages
    ADD COLUMN as_of         date,                            -- day up to which the page was kept true
    ADD COLUMN written_on    date,                            -- day of what it says, when others rest on it
    ADD COLUMN dated_by_file boolean NOT NULL DEFAULT false,  -- written_on is when the file changed: the page names none
    ADD COLUMN newer_source  uuid;                            -- newest source, if newer than as_of; null: none is
-- Pages to settle again when a source changes. No foreign key: a source that is gone is no page's newer source.
CREATE INDEX pages_by_newer_source ON pages (newer_source) WHERE newer_source IS NOT NULL;

-- Entries of front matter `sources`, each with the page that it names, settled like links; null: none, or several.
CREATE TABLE page_sources (
    page_id        uuid NOT NULL REFERENCES pages ON DELETE CASCADE,
    ordinal        integer NOT NULL,
    vault_id       text NOT NULL,
    target         text NOT NULL,                -- as written; of `[[a|b]]` it is `a`
    target_stem    text NOT NULL,                -- lower-case file stem: finds the entries that a new or gone page changes
    source_page_id uuid,
    PRIMARY KEY (page_id, ordinal)
);
CREATE INDEX page_sources_by_stem ON page_sources (vault_id, target_stem);
CREATE INDEX page_sources_by_source ON page_sources (source_page_id) WHERE source_page_id IS NOT NULL;
