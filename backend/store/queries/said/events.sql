-- name: InsertEvent :one
INSERT INTO events (channel_id, run_id, type, ts, data) VALUES (?, ?, ?, ?, ?) RETURNING id;

-- name: TimelineBefore :many
SELECT * FROM events WHERE channel_id = ? AND id < ? ORDER BY id DESC LIMIT ?;

-- name: LastEventIDs :many
SELECT channel_id, CAST(max(id) AS INTEGER) AS last_id FROM events GROUP BY channel_id;

-- name: GateEvents :many
SELECT id, type, ts, CAST(json_remove(data, '$.diff', '$.offers', '$.details') AS TEXT) AS data FROM events
WHERE run_id = ? AND run_id <> '' AND type IN ('gate.asked', 'gate.resolved') ORDER BY id LIMIT ?;

-- name: EventsOfRun :many
SELECT * FROM events WHERE run_id = ? AND run_id <> '' AND id > ? ORDER BY id LIMIT ?;

-- name: LastMessage :one
SELECT id, CAST(coalesce(json_extract(data, '$.content'), '') AS TEXT) AS content FROM events
WHERE channel_id = ? AND type = 'message.created' AND run_id NOT LIKE 'talk-%' ORDER BY id DESC LIMIT 1;

-- name: MessageEvent :one
SELECT id, CAST(coalesce(json_extract(data, '$.content'), '') AS TEXT) AS content FROM events WHERE channel_id = sqlc.arg(channel_id) AND type = 'message.created'
    AND json_extract(data, '$.uuid') = CAST(sqlc.arg(uuid) AS TEXT) ORDER BY id DESC LIMIT 1;
