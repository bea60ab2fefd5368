-- name: InsertContainer :exec
INSERT INTO containers (key, name, id, channel_id, run_id, type, status, image, hash, created_at, remove_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: SetContainerID :execrows
UPDATE containers SET id = ? WHERE key = ?;

-- name: SetContainerStatus :execrows
UPDATE containers SET status = ?, remove_at = ? WHERE key = ?;

-- name: ListContainers :many
SELECT * FROM containers ORDER BY created_at, name;

-- name: DeleteContainer :execrows
DELETE FROM containers WHERE key = ?;

-- name: InsertLease :exec
INSERT INTO leases (container, kind, holder, taken_at) VALUES (?, ?, ?, ?)
ON CONFLICT (container, kind, holder) DO NOTHING;

-- name: DeleteLease :execrows
DELETE FROM leases WHERE container = ? AND kind = ? AND holder = ?;

-- name: ListLeases :many
SELECT * FROM leases ORDER BY taken_at, kind, holder;
