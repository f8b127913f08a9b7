-- To mark a chunk as embedded is the most frequent update. With room left in each block, and no index over the mark,
-- Postgres writes the new row beside the old one and touches no index at all. No query used the index that goes.
DROP INDEX chunks_not_embedded;
ALTER TABLE chunks SET (fillfactor = 80);
