-- name: InsertContainer :exec
INSERT INTO containers
    (key, name, id, channel_id, run_id, type, status, image, hash, created_at, remove_at, scope, fixed, rights, last_used_at, idle_ms,
     max_age_ms, memory_bytes, why)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: UpdateContainer :execrows
UPDATE containers SET name = ?, id = ?, status = ?, remove_at = ?, scope = ?, last_used_at = ?, created_at = ?, why = ?
WHERE key = ?;

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
