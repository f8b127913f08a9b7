"""The statements of PostgresConversations, PostgresShares and PostgresScores."""

_TITLE = """
CASE WHEN c.title <> ' ' THEN c.title ELSE coalesce((
    SELECT f.text FROM messages f WHERE f.conversation_id = c.conversation_id AND f.role = 'user'
    ORDER BY f.ordinal LIMIT 1
), '') END
"""
"""A title, or the first question of a conversation that was begun without one (a blank: no title can be that)."""

_SUMMARY = f"""
SELECT c.conversation_id, c.title <> ' ' AS named, {_TITLE} AS title, c.created_at, c.updated_at, sums.*
FROM conversations c
CROSS JOIN LATERAL (
    SELECT count(*) AS turns, coalesce(sum(m.cost), 0) AS cost,
           count(*) FILTER (WHERE m.usage IS NOT NULL AND m.cost IS NULL) AS unpriced
    FROM messages m WHERE m.conversation_id = c.conversation_id AND m.role = 'assistant'
) sums
"""

CREATE = "INSERT INTO conversations (conversation_id, vault_id, title) VALUES ($1, $2, $3)"

SUMMARY = f"{_SUMMARY} WHERE c.vault_id = $1 AND c.conversation_id = $2"

LIST = f"""
{_SUMMARY}
WHERE c.vault_id = $1
  AND ($3::timestamptz IS NULL OR c.updated_at < $3 OR (c.updated_at = $3 AND c.conversation_id > $4::uuid))
ORDER BY c.updated_at DESC, c.conversation_id
LIMIT $2
"""

RENAME = """
UPDATE conversations SET title = $3, updated_at = now() WHERE vault_id = $1 AND conversation_id = $2
RETURNING conversation_id
"""

LOCK = "SELECT FROM conversations WHERE vault_id = $1 AND conversation_id = $2 FOR UPDATE"

STREAMING = "SELECT turn_id FROM messages WHERE conversation_id = $1 AND state = 'streaming'"

DELETE = "DELETE FROM conversations WHERE conversation_id = $1"

EXISTS = "SELECT EXISTS (SELECT FROM conversations WHERE vault_id = $1 AND conversation_id = $2)"

TURNS = """
WITH numbered AS (
    SELECT message_id, turn_id, ordinal, row_number() OVER (ORDER BY ordinal) AS number
    FROM messages WHERE vault_id = $1 AND conversation_id = $2 AND role = 'assistant'
), page AS (
    SELECT * FROM numbered WHERE ordinal > $3 ORDER BY ordinal LIMIT $4
)
SELECT page.ordinal AS place, page.number, s.faithfulness, m.*
FROM page
JOIN messages m ON m.vault_id = $1 AND m.turn_id = page.turn_id
LEFT JOIN scores s ON s.message_id = m.message_id
ORDER BY page.ordinal, m.role DESC
"""
"""Of each turn the question (user), then the answer (assistant)."""

TURN = """
SELECT s.faithfulness, m.* FROM messages m LEFT JOIN scores s USING (message_id)
WHERE m.vault_id = $1 AND m.turn_id = $2 ORDER BY m.role DESC
"""

SEARCH = f"""
WITH query AS (
    SELECT plainto_tsquery('simple', $2) && CASE
        WHEN numnode(plainto_tsquery('simple', $3)) = 0 THEN ''::tsquery
        ELSE regexp_replace(plainto_tsquery('simple', $3)::text, '''( &|$)', ''':*\\1', 'g')::tsquery
    END AS words
), found AS (
    SELECT m.message_id, ts_rank(m.words, query.words, 1) AS score
    FROM messages m, query
    WHERE m.vault_id = $1 AND (m.words @@ query.words OR m.text ILIKE $4)
    ORDER BY score DESC, m.created_at DESC, m.ordinal DESC
    LIMIT $5
)
SELECT m.*, found.score, c.title <> ' ' AS named, {_TITLE} AS title
FROM found JOIN messages m USING (message_id) JOIN conversations c USING (conversation_id)
ORDER BY found.score DESC, m.created_at DESC, m.ordinal DESC
"""
"""$2: all words but the last; $3: the last, whose lexemes are beginnings; $4: a pattern, null for scripts that part
their words. Rank normalisation 1: by the logarithm of the length, so that a long answer does not win by its length."""

COSTS = """
SELECT (created_at AT TIME ZONE 'UTC')::date AS day, count(*) AS answers,
       sum((usage ->> 'input_tokens')::bigint)::bigint AS input_tokens,
       sum((usage ->> 'output_tokens')::bigint)::bigint AS output_tokens,
       coalesce(sum(cost), 0) AS cost, count(*) FILTER (WHERE cost IS NULL) AS unpriced
FROM messages
WHERE vault_id = $1 AND role = 'assistant' AND usage IS NOT NULL
  AND created_at >= ($2::date)::timestamp AT TIME ZONE 'UTC'
  AND created_at < ($3::date + 1)::timestamp AT TIME ZONE 'UTC'
  AND ($4::uuid IS NULL OR conversation_id = $4)
GROUP BY 1 ORDER BY 1
"""

VALID_SHARES = "SELECT count(*) FROM shares WHERE conversation_id = $1 AND revoked_at IS NULL"

SHARE = "INSERT INTO shares (share_id, conversation_id, vault_id, token_hash) VALUES ($1, $2, $3, $4)"

FORGET_REVOKED = "DELETE FROM shares WHERE conversation_id = $1 AND revoked_at IS NOT NULL"

UNSHARE = """
UPDATE shares SET revoked_at = now()
WHERE conversation_id = $1 AND ($2::uuid IS NULL OR share_id = $2) AND revoked_at IS NULL
RETURNING share_id
"""

SHARE_EXISTS = "SELECT EXISTS (SELECT FROM shares WHERE conversation_id = $1 AND share_id = $2)"

SHARED = "SELECT conversation_id FROM shares WHERE vault_id = $1 AND token_hash = $2 AND revoked_at IS NULL"

_TO_SCORE = """
FROM messages m LEFT JOIN scores s USING (message_id)
WHERE m.vault_id = $1 AND ($2::uuid IS NULL OR m.conversation_id = $2) AND m.role = 'assistant' AND m.state = 'done'
  AND NOT jsonb_path_exists(m.citations, '$[*].spans[*] ? (@.support == null)')
  AND (s.message_id IS NULL OR (s.details ->> 'evaluator')::int < $3
       OR ($4 AND s.judge = 'support' AND NOT s.details ? 'judge_problem'))
"""
"""Whole answers without a score of this evaluator, or, $4, without a judge's; those whose citations were not checked
when they were written can't be scored."""

TO_SCORE = f"SELECT m.* {_TO_SCORE} AND m.ordinal > $5 ORDER BY m.ordinal LIMIT $6"

COUNT_TO_SCORE = f"SELECT count(*) {_TO_SCORE}"

SCORE = """
INSERT INTO scores (message_id, faithfulness, judge, details)
SELECT message_id, $2, $3, $4::jsonb || jsonb_build_object('evaluator', $5::int) FROM messages WHERE message_id = $1
ON CONFLICT (message_id) DO UPDATE
SET faithfulness = excluded.faithfulness, judge = excluded.judge, details = excluded.details, scored_at = now()
"""

PASSAGES = """
SELECT chunk_id, content_hash, text FROM chunks WHERE vault_id = $1 AND chunk_id = ANY ($2::uuid[])
"""
