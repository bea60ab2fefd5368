-- name: InsertChannel :exec
INSERT INTO channels (id, parent_id, kind, name, dir, session_id, demo_session_id, next_session, demo_next_session, state_id, branch, parent_dir, created_at, agent_id, choices, untitled, origin)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: GetChannel :one
SELECT * FROM channels WHERE id = ?;

-- name: ListChannels :many
SELECT * FROM channels ORDER BY seq;

-- name: RenameChannel :execrows
UPDATE channels SET name = ?, untitled = 0 WHERE id = ?;

-- name: SetChannelSessions :execrows
UPDATE channels SET session_id = ?, demo_session_id = ?, next_session = ?, demo_next_session = ? WHERE id = ?;

-- name: DeleteChannel :execrows
DELETE FROM channels WHERE id = ?;

-- name: SetChannelContext :execrows
UPDATE channels SET context = ? WHERE id = ?;

-- name: SetChannelAgent :exec
UPDATE channels SET agent_id = ? WHERE id = sqlc.arg(owner) OR state_id = sqlc.arg(owner);

-- name: SetChannelChoices :execrows
UPDATE channels SET choices = ? WHERE id = ?;

-- name: SetChannelCommands :execrows
UPDATE channels SET commands = ? WHERE id = ?;

-- name: TitleChannel :execrows
UPDATE channels SET name = ?, untitled = 0 WHERE id = ? AND untitled = 1;

-- name: SetOrigin :execrows
UPDATE channels SET origin = ? WHERE id = ?;
