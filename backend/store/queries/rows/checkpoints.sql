-- name: PutCheckpoint :exec
INSERT INTO checkpoints (id, channel_id, run_id, kind, tree, at, note, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET tree = excluded.tree, at = excluded.at, note = excluded.note, data = excluded.data;

-- name: CheckpointsOf :many
SELECT * FROM checkpoints WHERE channel_id = ? ORDER BY at DESC, rowid DESC LIMIT ?;

-- name: GetCheckpoint :one
SELECT * FROM checkpoints WHERE id = ?;

-- name: DeleteCheckpoint :exec
DELETE FROM checkpoints WHERE id = ?;
