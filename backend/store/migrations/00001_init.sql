-- +goose Up
CREATE TABLE meta (
    key   TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE channels (
    seq        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    parent_id  TEXT    NOT NULL DEFAULT '',
    kind       TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    dir        TEXT    NOT NULL,
    session_id TEXT    NOT NULL DEFAULT '',
    demo_session_id TEXT NOT NULL DEFAULT '', -- of runs on the scripted model
    created_at INTEGER NOT NULL
) STRICT;

-- The queue is the runs in state queued, highest priority first, then oldest.
CREATE TABLE runs (
    seq          INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id           TEXT    NOT NULL UNIQUE,
    channel_id   TEXT    NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    prompt       TEXT    NOT NULL,
    author_id    TEXT    NOT NULL DEFAULT '',
    state        TEXT    NOT NULL CHECK (state IN ('queued', 'starting', 'running', 'done', 'failed', 'cancelled', 'interrupted')),
    priority     INTEGER NOT NULL DEFAULT 0,
    demo         INTEGER NOT NULL DEFAULT 0,
    script       TEXT    NOT NULL DEFAULT '',
    created_at   INTEGER NOT NULL,
    not_before   INTEGER NOT NULL DEFAULT 0,
    started_at   INTEGER NOT NULL DEFAULT 0,
    ended_at     INTEGER NOT NULL DEFAULT 0,
    container_id TEXT    NOT NULL DEFAULT '',
    spawn_id     TEXT    NOT NULL DEFAULT '',
    spool_offset INTEGER NOT NULL DEFAULT 0,
    cost_usd     REAL    NOT NULL DEFAULT 0,
    outcome      TEXT    NOT NULL DEFAULT '{}'
) STRICT;

CREATE INDEX runs_queue ON runs (channel_id, state, priority DESC, seq);
CREATE INDEX runs_ended ON runs (ended_at);
-- At most one run of a channel is under way: even a bug cannot start two.
CREATE UNIQUE INDEX runs_one_active ON runs (channel_id) WHERE state IN ('starting', 'running');

CREATE TABLE events (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    channel_id TEXT    NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    run_id     TEXT    NOT NULL DEFAULT '',
    type       TEXT    NOT NULL,
    ts         INTEGER NOT NULL,
    data       TEXT    NOT NULL
) STRICT;

CREATE INDEX events_timeline ON events (channel_id, id);
CREATE INDEX events_run ON events (run_id, id) WHERE run_id <> '';

-- A row is written before the engine is called, hence keyed by name.
CREATE TABLE containers (
    name       TEXT    NOT NULL PRIMARY KEY,
    id         TEXT    NOT NULL DEFAULT '',
    channel_id TEXT    NOT NULL,
    run_id     TEXT    NOT NULL DEFAULT '',
    type       TEXT    NOT NULL,
    status     TEXT    NOT NULL CHECK (status IN ('reserved', 'running', 'stopped', 'pending-removal')),
    image      TEXT    NOT NULL DEFAULT '',
    hash       TEXT    NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    remove_at  INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE UNIQUE INDEX containers_id ON containers (id) WHERE id <> '';

-- +goose Down
DROP TABLE containers;
DROP TABLE events;
DROP TABLE runs;
DROP TABLE channels;
DROP TABLE meta;
