-- name: InsertFrame :one
INSERT INTO browser_frames (channel_id, run_id, ts, began_at, call_key, kind, picture, bytes, skipped, data)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id;

-- name: FramesOfRun :many
SELECT * FROM browser_frames WHERE run_id = ? ORDER BY ts, id;

-- name: FrameFile :one
SELECT channel_id, run_id, picture, bytes FROM browser_frames WHERE id = ?;

-- name: SumFrames :one
SELECT count(*) AS pictures, CAST(coalesce(sum(bytes), 0) AS INTEGER) AS bytes
FROM (SELECT DISTINCT picture, bytes FROM browser_frames WHERE run_id = ? AND picture <> '');

-- name: PictureUses :one
SELECT count(*) FROM browser_frames WHERE run_id = ? AND picture = ?;

-- name: LeaveOutPicture :exec
UPDATE browser_frames SET picture = '', bytes = 0, data = json_set(data, '$.picture', '', '$.why', CAST(sqlc.arg(why) AS TEXT)) WHERE id = sqlc.arg(id);

-- name: LeaveOutFrame :exec
DELETE FROM browser_frames WHERE id = ?;

-- name: SkippedBefore :exec
UPDATE browser_frames SET skipped = skipped + sqlc.arg(more) WHERE id = sqlc.arg(id);

-- name: RunsWithFrames :many
SELECT channel_id, run_id, CAST(max(ts) AS INTEGER) AS last_ts, CAST(sum(bytes) AS INTEGER) AS bytes
FROM browser_frames GROUP BY channel_id, run_id ORDER BY last_ts DESC;

-- name: DeleteFramesOfRun :exec
DELETE FROM browser_frames WHERE run_id = ?;

-- name: BrowserToolUses :many
SELECT CAST(json_extract(data, '$.tool_use_id') AS TEXT) AS use_id, CAST(json_extract(data, '$.tool_name') AS TEXT) AS name,
       CAST(coalesce(json_extract(data, '$.input'), '{}') AS TEXT) AS input
FROM events WHERE run_id = ? AND run_id <> '' AND type = 'tool.use' AND json_extract(data, '$.tool_name') GLOB 'mcp__loop-browser__*'
ORDER BY id LIMIT ?;

-- name: ToolResultTimes :many
SELECT CAST(json_extract(data, '$.tool_use_id') AS TEXT) AS use_id, ts
FROM events WHERE run_id = ? AND run_id <> '' AND type = 'tool.result' ORDER BY id LIMIT ?;
