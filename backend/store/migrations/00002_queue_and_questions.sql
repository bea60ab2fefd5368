-- +goose Up
-- How the next run begins, as JSON of core.SessionStart; and what threads and
-- worktrees have of their own.
ALTER TABLE channels ADD COLUMN next_session TEXT NOT NULL DEFAULT '{}';
ALTER TABLE channels ADD COLUMN demo_next_session TEXT NOT NULL DEFAULT '{}';
ALTER TABLE channels ADD COLUMN state_id TEXT NOT NULL DEFAULT '';
ALTER TABLE channels ADD COLUMN branch TEXT NOT NULL DEFAULT '';
ALTER TABLE channels ADD COLUMN parent_dir TEXT NOT NULL DEFAULT '';

-- The queue is highest priority first, then rank, then oldest.
ALTER TABLE runs ADD COLUMN queue_rank INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN delay_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN hold_until INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN plan INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN session TEXT NOT NULL DEFAULT '{}';
ALTER TABLE runs ADD COLUMN attempt TEXT NOT NULL DEFAULT '{}';
ALTER TABLE runs ADD COLUMN triggered_by TEXT NOT NULL DEFAULT '';

-- A row is written with the event that asked. While one of a channel is open
-- nothing of its queue is claimed.
CREATE TABLE questions (
    seq         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id          TEXT    NOT NULL UNIQUE,
    channel_id  TEXT    NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    run_id      TEXT    NOT NULL DEFAULT '',
    kind        TEXT    NOT NULL CHECK (kind IN ('ask_user', 'exit_plan')),
    state       TEXT    NOT NULL CHECK (state IN ('open', 'answered', 'cancelled')),
    created_at  INTEGER NOT NULL,
    resolved_at INTEGER NOT NULL DEFAULT 0,
    data        TEXT    NOT NULL,
    answer      TEXT    NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX questions_open ON questions (channel_id) WHERE state = 'open';

-- +goose Down
DROP TABLE questions;
ALTER TABLE runs DROP COLUMN triggered_by;
ALTER TABLE runs DROP COLUMN attempt;
ALTER TABLE runs DROP COLUMN session;
ALTER TABLE runs DROP COLUMN plan;
ALTER TABLE runs DROP COLUMN hold_until;
ALTER TABLE runs DROP COLUMN delay_ms;
ALTER TABLE runs DROP COLUMN queue_rank;
ALTER TABLE channels DROP COLUMN parent_dir;
ALTER TABLE channels DROP COLUMN branch;
ALTER TABLE channels DROP COLUMN state_id;
ALTER TABLE channels DROP COLUMN demo_next_session;
ALTER TABLE channels DROP COLUMN next_session;
