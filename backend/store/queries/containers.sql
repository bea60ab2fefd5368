-- name: InsertContainer :exec
INSERT INTO containers (name, id, channel_id, run_id, type, status, image, hash, created_at, remove_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: SetContainerID :execrows
UPDATE containers SET id = ? WHERE name = ?;

-- name: SetContainerStatus :execrows
UPDATE containers SET status = ?, remove_at = ? WHERE name = ?;

-- name: GetContainer :one
SELECT * FROM containers WHERE name = ?;

-- name: ListContainers :many
SELECT * FROM containers ORDER BY created_at, name;

-- name: DeleteContainer :execrows
DELETE FROM containers WHERE name = ?;
