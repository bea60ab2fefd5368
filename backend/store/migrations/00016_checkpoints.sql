-- +goose Up
-- The files of channels at some moments. What they had is in the channel's folder; a row is
-- written after it. data is how the conversation stood, and of kind kept the going back, as JSON.
CREATE TABLE checkpoints (
    id         TEXT    NOT NULL PRIMARY KEY,
    channel_id TEXT    NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    run_id     TEXT    NOT NULL,
    kind       TEXT    NOT NULL CHECK (kind IN ('before', 'after', 'kept')),
    tree       TEXT    NOT NULL DEFAULT '',
    at         INTEGER NOT NULL,
    note       TEXT    NOT NULL DEFAULT '',
    data       TEXT    NOT NULL DEFAULT '{}'
) STRICT;

CREATE INDEX checkpoints_channel ON checkpoints (channel_id, at);

-- +goose Down
DROP TABLE checkpoints;
