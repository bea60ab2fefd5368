-- name: InsertRun :exec
INSERT INTO runs (id, channel_id, prompt, author_id, state, priority, demo, script, created_at, not_before, delay_ms, plan, session, triggered_by, queue_rank, unattended, attachments, model, effort)
VALUES (?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: GetRun :one
SELECT * FROM runs WHERE id = ?;

-- name: CountActive :one
SELECT count(*) FROM runs WHERE channel_id = ? AND state IN ('starting', 'running');

-- name: MarkStarting :execrows
UPDATE runs SET state = 'starting', started_at = sqlc.arg(now), hold_until = 0 WHERE id = sqlc.arg(id) AND state = 'queued';

-- name: UpdateRun :execrows
UPDATE runs SET state = ?, priority = ?, not_before = ?, started_at = ?, container_id = ?, spawn_id = ?, spool_offset = ?, attempt = ?
WHERE id = ?;

-- name: FinishRun :execrows
UPDATE runs SET state = ?, ended_at = ?, container_id = ?, spawn_id = ?, spool_offset = ?, cost_usd = ?, cost_estimated = ?, outcome = ?
WHERE id = ?;

-- name: SetSpoolOffset :execrows
UPDATE runs SET spool_offset = sqlc.arg(spool_offset)
WHERE id = sqlc.arg(id) AND state IN ('starting', 'running') AND spool_offset = sqlc.arg(previous);

-- name: ListRuns :many
SELECT * FROM runs
WHERE (CAST(sqlc.arg(channel_id) AS TEXT) = '' OR channel_id = CAST(sqlc.arg(channel_id) AS TEXT))
  AND (CAST(sqlc.arg(states) AS TEXT) = '' OR instr(CAST(sqlc.arg(states) AS TEXT), ' ' || state || ' ') > 0)
ORDER BY seq DESC LIMIT sqlc.arg(max_rows);

-- name: ListQueue :many
SELECT * FROM runs WHERE channel_id = ? AND state = 'queued' ORDER BY priority DESC, queue_rank, seq;

-- name: ListActive :many
SELECT * FROM runs WHERE state IN ('starting', 'running') ORDER BY seq;

-- name: ChannelsWithQueue :many
SELECT channel_id, count(*) AS queued FROM runs
WHERE state = 'queued' GROUP BY channel_id ORDER BY min(seq);

-- name: QueueEnds :one
SELECT CAST(coalesce(max(priority), 0) AS INTEGER) AS priority, CAST(coalesce(max(queue_rank), 0) AS INTEGER) AS queue_rank
FROM runs WHERE channel_id = ? AND state = 'queued';

-- name: EditQueued :execrows
UPDATE runs SET prompt = ?, hold_until = 0 WHERE id = ? AND state = 'queued';

-- name: HoldQueued :execrows
UPDATE runs SET hold_until = ? WHERE id = ? AND state = 'queued';

-- name: PlaceQueued :execrows
UPDATE runs SET priority = ?, queue_rank = ? WHERE id = ? AND state = 'queued';

-- name: PromoteQueued :execrows
UPDATE runs SET priority = ?, queue_rank = 0, not_before = 0, delay_ms = 0, hold_until = 0 WHERE id = ? AND state = 'queued';

-- name: RebaseQueued :execrows
UPDATE runs SET not_before = ? WHERE id = ? AND state = 'queued';

-- name: LatestEnded :many
SELECT * FROM runs WHERE seq IN (
    SELECT max(r.seq) FROM runs r WHERE r.state IN ('done', 'failed', 'cancelled', 'interrupted') GROUP BY r.channel_id
);

-- name: PromptHistory :many
SELECT prompt FROM runs
WHERE channel_id = sqlc.arg(channel_id) AND instr(lower(prompt), lower(CAST(sqlc.arg(query) AS TEXT))) > 0
GROUP BY prompt ORDER BY max(seq) DESC LIMIT sqlc.arg(max_rows);

-- name: CostSince :one
SELECT CAST(coalesce(sum(cost_usd), 0.0) AS REAL) AS usd, CAST(coalesce(max(cost_estimated), 0) AS INTEGER) AS estimated,
       CAST(coalesce((SELECT sum(c.usd) FROM talk_costs c WHERE c.at >= sqlc.arg(since)), 0.0) AS REAL) AS talk_usd,
       CAST(coalesce((SELECT max(t.estimated) FROM talk_costs c JOIN talks t ON t.id = c.talk_id WHERE c.at >= sqlc.arg(since)), 0) AS INTEGER) AS talk_estimated,
       CAST(coalesce((SELECT max(id) FROM events), 0) AS INTEGER) AS last_event_id
FROM runs WHERE ended_at >= sqlc.arg(since);

-- name: SessionCost :one
SELECT CAST(json_extract(outcome, '$.session_cost_usd') AS REAL) FROM runs
WHERE json_extract(outcome, '$.session_id') = CAST(sqlc.arg(session) AS TEXT) AND json_extract(outcome, '$.session_cost_usd') > 0
ORDER BY seq DESC LIMIT 1;

-- name: SessionAsked :one
SELECT model FROM runs WHERE json_extract(outcome, '$.session_id') = CAST(sqlc.arg(session) AS TEXT) ORDER BY seq DESC LIMIT 1;

-- name: UsualModel :one
SELECT CAST(json_extract(outcome, '$.chosen_model') AS TEXT) FROM runs
WHERE channel_id = ? AND model = '' AND demo = 0 AND json_extract(outcome, '$.chosen_model') <> ''
ORDER BY seq DESC LIMIT 1;

-- name: ListModelRates :many
SELECT * FROM model_rates;

-- name: SetModelRate :exec
INSERT INTO model_rates (model, input_usd, context, seen_at) VALUES (?, ?, ?, ?)
ON CONFLICT (model) DO UPDATE SET input_usd = excluded.input_usd, context = excluded.context, seen_at = excluded.seen_at;

-- name: TrimModelRates :exec
DELETE FROM model_rates WHERE model NOT IN (SELECT model FROM model_rates ORDER BY seen_at DESC, model LIMIT 200);
