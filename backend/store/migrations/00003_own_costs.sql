-- +goose Up
-- What is known of models, from the last results that named prices.
CREATE TABLE model_rates (
    model     TEXT    NOT NULL PRIMARY KEY,
    input_usd REAL    NOT NULL, -- a plain input token's price
    context   INTEGER NOT NULL DEFAULT 0, -- tokens that it holds
    seen_at   INTEGER NOT NULL
) STRICT;

-- How full the channel's conversation is, as JSON of core.Context.
ALTER TABLE channels ADD COLUMN context TEXT NOT NULL DEFAULT '{}';

ALTER TABLE runs ADD COLUMN cost_estimated INTEGER NOT NULL DEFAULT 0;

-- Until here cost_usd held what the agent counts for the whole conversation,
-- which goes on over resuming and forking; and, of a run with several tries, the
-- sum of such totals. That total is kept as the conversation's. A run's own cost
-- is by how much it had grown since the run before it in the same conversation, or
-- since the conversation that was forked, which for a thread's first run is its
-- parent's. Where no run before it is known, or the
-- total is smaller (the agent had begun to count anew), the total is all there is
-- to say. What the earlier ones of several tries cost is lost where they were in
-- other conversations. None of these is marked as an estimate.
CREATE TEMP TABLE totals (
    seq INTEGER, id TEXT, channel_id TEXT, session TEXT, forks INTEGER, source TEXT, total REAL, PRIMARY KEY (session, seq)
);
INSERT INTO totals
SELECT seq, id, channel_id, coalesce(json_extract(outcome, '$.session_id'), ''), coalesce(json_extract(session, '$.mode'), '') = 'fork',
       coalesce(json_extract(session, '$.session_id'), ''), max(cost_usd - coalesce(json_extract(attempt, '$.spent_usd'), 0.0), 0.0)
FROM runs WHERE demo = 0 AND cost_usd > 0;
CREATE INDEX totals_channel ON totals (channel_id, seq); -- without it 20,000 runs take 20 s

CREATE TEMP TABLE own (id TEXT PRIMARY KEY, total REAL, cost REAL);
INSERT INTO own
SELECT t.id, t.total, t.total - coalesce(
    (SELECT p.total FROM totals p WHERE p.session = t.session AND t.session <> '' AND p.seq < t.seq ORDER BY p.seq DESC LIMIT 1),
    (SELECT p.total FROM totals p WHERE p.session = t.source AND t.source <> '' AND p.seq < t.seq ORDER BY p.seq DESC LIMIT 1),
    (SELECT p.total FROM totals p WHERE t.forks AND t.source = '' AND p.channel_id = t.channel_id AND p.seq < t.seq ORDER BY p.seq DESC LIMIT 1),
    (SELECT p.total FROM totals p JOIN channels c ON c.id = t.channel_id AND c.kind = 'thread' AND p.channel_id = c.parent_id
     WHERE p.seq < t.seq AND NOT EXISTS (SELECT 1 FROM totals o WHERE o.channel_id = t.channel_id AND o.seq < t.seq) ORDER BY p.seq DESC LIMIT 1),
    0.0)
FROM totals t;
UPDATE own SET cost = total WHERE cost < 0.0;

UPDATE runs SET
    cost_usd = (SELECT own.cost FROM own WHERE own.id = runs.id),
    outcome = (SELECT json_set(runs.outcome, '$.cost_usd', own.cost, '$.session_cost_usd', own.total) FROM own WHERE own.id = runs.id)
WHERE id IN (SELECT id FROM own);
UPDATE events SET
    data = (SELECT json_set(events.data, '$.cost_usd', own.cost, '$.session_cost_usd', own.total) FROM own WHERE own.id = events.run_id)
WHERE type = 'agent.status' AND run_id <> '' AND run_id IN (SELECT id FROM own) AND json_extract(data, '$.cost_usd') > 0;

DROP TABLE own;
DROP TABLE totals;

-- +goose Down
ALTER TABLE runs DROP COLUMN cost_estimated;
ALTER TABLE channels DROP COLUMN context;
DROP TABLE model_rates;
