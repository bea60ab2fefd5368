-- name: InsertQuestion :exec
INSERT OR IGNORE INTO questions (id, channel_id, run_id, kind, state, created_at, data) VALUES (?, ?, ?, ?, 'open', ?, ?);

-- name: GetQuestion :one
SELECT * FROM questions WHERE id = ?;

-- name: CountOpenQuestions :one
SELECT count(*) FROM questions WHERE channel_id = ? AND state = 'open';

-- name: ListOpenQuestions :many
SELECT * FROM questions
WHERE state = 'open' AND (CAST(sqlc.arg(channel_id) AS TEXT) = '' OR channel_id = CAST(sqlc.arg(channel_id) AS TEXT))
ORDER BY seq;

-- name: ResolveQuestion :execrows
UPDATE questions SET state = ?, resolved_at = ?, answer = ? WHERE id = ? AND state = 'open';
