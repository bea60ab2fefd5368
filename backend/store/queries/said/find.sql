-- name: FindSaid :many
-- A prompt's event keeps its first words; the run has those that were edited while it waited.
SELECT sqlc.embed(events), CAST(coalesce(runs.prompt, '') AS TEXT) AS prompt FROM said JOIN events ON events.id = said.rowid
LEFT JOIN runs ON runs.id = events.run_id AND events.type = 'message.created' AND json_extract(events.data, '$.msg_id') = events.run_id
WHERE said MATCH CAST(sqlc.arg(words) AS TEXT) AND said.rowid < CAST(sqlc.arg(before) AS INTEGER) ORDER BY said.rowid DESC LIMIT sqlc.arg(most);
