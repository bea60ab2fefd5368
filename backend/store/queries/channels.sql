-- name: InsertChannel :exec
INSERT INTO channels (id, parent_id, kind, name, dir, session_id, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?);

-- name: GetChannel :one
SELECT * FROM channels WHERE id = ?;

-- name: ListChannels :many
SELECT * FROM channels ORDER BY seq;

-- name: RenameChannel :execrows
UPDATE channels SET name = ? WHERE id = ?;

-- name: SetChannelSession :execrows
UPDATE channels SET session_id = ? WHERE id = ?;

-- name: SetChannelDemoSession :execrows
UPDATE channels SET demo_session_id = ? WHERE id = ?;

-- name: DeleteChannel :execrows
DELETE FROM channels WHERE id = ?;
