-- What filters compare, so that Postgres decides for a page as the vector stores do for its points. Pages from before
-- have none, and pass no such filter, until they are worked again, which their changed fingerprint causes.
ALTER TABLE pages ADD COLUMN fields jsonb NOT NULL DEFAULT '{}';
COMMENT ON COLUMN pages.fields IS 'payload fields from front matter as text or lists of text, and numbers for ranges';
