-- name: PutTalk :exec
INSERT INTO talks (id, channel_id, session_id, begins_at, read_to, working, estimated, updated_at, data)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET read_to = excluded.read_to, working = excluded.working, estimated = excluded.estimated,
    updated_at = excluded.updated_at, data = excluded.data;

-- name: AddTalkCost :exec
INSERT INTO talk_costs (talk_id, at, usd) VALUES (?, ?, ?);

-- name: LastTalk :one
SELECT * FROM talks WHERE channel_id = ? AND session_id = ? ORDER BY seq DESC LIMIT 1;

-- name: TalksSince :many
SELECT * FROM talks WHERE updated_at >= ? OR working = 1 ORDER BY seq DESC LIMIT ?;

-- name: LastTalks :many
SELECT * FROM talks WHERE working = 1 OR seq IN (SELECT max(t.seq) FROM talks t GROUP BY t.channel_id) ORDER BY seq;

-- name: RunSpans :many
SELECT CAST(coalesce(json_extract(outcome, '$.session_id'), '') AS TEXT) AS session, started_at, ended_at, state FROM runs
WHERE channel_id = sqlc.arg(channel_id) AND started_at > 0 AND (ended_at >= sqlc.arg(since) OR state IN ('starting', 'running'))
ORDER BY seq DESC LIMIT sqlc.arg(most);
