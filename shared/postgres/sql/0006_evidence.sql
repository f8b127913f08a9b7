-- From which evidence on a question an answer is tried: one threshold for each vault, embedding space and measure.
-- A threshold means nothing in another space. No foreign key: it outlives a rebuild, which makes the same space again.

CREATE TABLE evidence_thresholds (
    vault_id      text NOT NULL,
    space         text NOT NULL,
    measure       text NOT NULL,                             -- the model that read, or 'words'
    threshold     double precision NOT NULL CHECK (threshold BETWEEN 0 AND 1),
    measured      jsonb NOT NULL,                            -- Calibration: how well it tells questions apart
    calibrated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (vault_id, space, measure)
);
