-- name: FindSaid :many
SELECT events.* FROM said JOIN events ON events.id = said.rowid
WHERE said MATCH CAST(sqlc.arg(words) AS TEXT) AND said.rowid < CAST(sqlc.arg(before) AS INTEGER) ORDER BY said.rowid DESC LIMIT sqlc.arg(most);
