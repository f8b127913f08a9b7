"""The statements of PostgresTurns and PostgresGrounding."""

LOCK_CONVERSATION = """
SELECT conversation_id FROM conversations WHERE conversation_id = $1 AND vault_id = $2 FOR UPDATE
"""

SAME_TURN = """
SELECT q.message_id AS question_id, q.text AS question, a.message_id, a.conversation_id
FROM messages q
JOIN messages a ON a.vault_id = q.vault_id AND a.turn_id = q.turn_id AND a.role = 'assistant'
WHERE q.vault_id = $1 AND q.turn_id = $2 AND q.role = 'user'
"""

HISTORY = """
SELECT q.text AS question, a.text AS answer, a.state
FROM messages a
JOIN messages q ON q.vault_id = a.vault_id AND q.turn_id = a.turn_id AND q.role = 'user'
WHERE a.conversation_id = $1 AND a.role = 'assistant'
ORDER BY a.ordinal DESC
LIMIT $2
"""

NEW_CONVERSATION = "INSERT INTO conversations (conversation_id, vault_id, title) VALUES ($1, $2, $3)"

TOUCH_CONVERSATION = "UPDATE conversations SET updated_at = now() WHERE conversation_id = $1"

NEW_MESSAGES = """
INSERT INTO messages (message_id, conversation_id, vault_id, turn_id, role, state, text, finished_at, heartbeat_at)
VALUES ($1, $3, $4, $5, 'user', 'done', $6, now(), NULL), ($2, $3, $4, $5, 'assistant', 'streaming', '', NULL, now())
"""

KEEP_ALIVE = """
UPDATE messages SET heartbeat_at = now() WHERE message_id = ANY ($1::uuid[]) AND state = 'streaming'
RETURNING message_id
"""

_ANSWER = """
    text = $3, citations = $4, usage = $5, cost = $6::numeric, provider = $7, model = $8, finish_reason = $9,
    refusal = $10, support = $11, removed_markers = $12, latency = $13, error_code = $14, error = $15, last_seq = $16,
    state = $17
"""

FINISH = f"""
UPDATE messages SET {_ANSWER}, finished_at = now(), heartbeat_at = NULL, ending = $18
WHERE message_id = $1 AND vault_id = $2 AND state = 'streaming'
  AND ($19::float8 IS NULL OR heartbeat_at < now() - make_interval(secs => $19::float8))
RETURNING message_id
"""
"""$19: seconds without a sign of life that are asked for; null: none."""

REWRITE = f"""
UPDATE messages SET {_ANSWER}
WHERE message_id = $1 AND vault_id = $2 AND state <> 'streaming' AND ending IS NOT NULL
"""

EXISTS = "SELECT EXISTS (SELECT FROM messages WHERE message_id = $1)"

ANNOUNCED = "UPDATE messages SET ending = NULL WHERE message_id = $1"

ABANDONED = """
SELECT * FROM messages
WHERE state = 'streaming' AND heartbeat_at < now() - make_interval(secs => $1::float8)
ORDER BY heartbeat_at LIMIT $2
"""

UNANNOUNCED = """
SELECT * FROM messages
WHERE ending IS NOT NULL AND finished_at < now() - make_interval(secs => $1::float8)
ORDER BY finished_at LIMIT $2
"""

GROUNDING = """
SELECT p.path, string_agg(c.text, E'\\n\\n' ORDER BY c.chunk_index) AS text
FROM vaults v
LEFT JOIN pages p ON p.vault_id = v.vault_id AND p.path = ANY ($2::text[])
LEFT JOIN LATERAL (
    SELECT text, chunk_index FROM chunks WHERE page_id = p.page_id ORDER BY chunk_index LIMIT $3
) c ON true
WHERE v.vault_id = $1
GROUP BY p.path
"""
