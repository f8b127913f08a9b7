-- What was asked and answered. Nothing here refers to pages or chunks by key: an answer stays as it was streamed whatever
-- becomes of the pages that it cites, and a vault may be built anew under it.

CREATE TABLE conversations (
    conversation_id uuid PRIMARY KEY,
    vault_id        text NOT NULL,
    title           text NOT NULL CHECK (title <> ''),
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now()   -- when its last turn began, or it was renamed
);
CREATE INDEX conversations_by_time ON conversations (vault_id, updated_at DESC, conversation_id);

-- Two rows per turn: the question, and the answer that is streaming or was streamed.
CREATE TABLE messages (
    message_id      uuid PRIMARY KEY,
    conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
    vault_id        text NOT NULL,
    turn_id         uuid NOT NULL,
    ordinal         bigint GENERATED ALWAYS AS IDENTITY,     -- order within the conversation
    role            text NOT NULL CHECK (role IN ('user', 'assistant')),
    state           text NOT NULL CHECK (state IN ('streaming', 'done', 'failed', 'cancelled', 'refused')),
    text            text NOT NULL,
    citations       jsonb NOT NULL DEFAULT '[]',             -- list of StoredCitation
    usage           jsonb,                                   -- TokenUsage; null: no provider was asked
    cost            numeric,                                 -- US dollars; null: the price is not known
    provider        text,
    model           text,
    finish_reason   text,
    refusal         text,
    support         jsonb,                                   -- SupportCounts
    removed_markers integer NOT NULL DEFAULT 0,
    latency         jsonb,                                   -- TurnTimings
    error_code      text,
    error           text,
    last_seq        integer NOT NULL DEFAULT 0,              -- of the turn's last event
    created_at      timestamptz NOT NULL DEFAULT now(),
    finished_at     timestamptz,
    heartbeat_at    timestamptz,                             -- while streaming: the process that answers lives
    ending          jsonb,                                   -- last event, until it is known to be in the stream
    words           tsvector GENERATED ALWAYS AS (to_tsvector('simple', text)) STORED,
    UNIQUE (vault_id, turn_id, role)
);
CREATE INDEX messages_by_conversation ON messages (conversation_id, ordinal);
CREATE INDEX messages_by_words ON messages USING gin (words);
CREATE INDEX messages_by_day ON messages (vault_id, created_at) WHERE role = 'assistant';
-- One answer at a time in a conversation; also how the sweep finds turns whose process died.
CREATE UNIQUE INDEX one_streaming_answer ON messages (conversation_id) WHERE state = 'streaming';
CREATE INDEX messages_not_announced ON messages (finished_at) WHERE ending IS NOT NULL;

-- Tokens that let anyone read one conversation.
CREATE TABLE shares (
    share_id        uuid PRIMARY KEY,
    conversation_id uuid NOT NULL REFERENCES conversations ON DELETE CASCADE,
    vault_id        text NOT NULL,
    token_hash      text NOT NULL UNIQUE,                    -- SHA-256 of the token, which is told once
    created_at      timestamptz NOT NULL DEFAULT now(),
    revoked_at      timestamptz
);
CREATE INDEX shares_by_conversation ON shares (conversation_id);

-- How faithful an answer is to its passages: one score per message.
CREATE TABLE scores (
    message_id   uuid PRIMARY KEY REFERENCES messages ON DELETE CASCADE,
    faithfulness double precision NOT NULL CHECK (faithfulness BETWEEN 0 AND 1),
    judge        text NOT NULL,                              -- 'support', or the provider that judged
    details      jsonb NOT NULL DEFAULT '{}',
    scored_at    timestamptz NOT NULL DEFAULT now()
);
