-- +goose Up
-- Pictures of what runs did in their browsers. The pictures are files, named by their
-- content; several rows may have the same one.
CREATE TABLE browser_frames (
    id         INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    channel_id TEXT    NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    run_id     TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    ts         INTEGER NOT NULL,
    began_at   INTEGER NOT NULL DEFAULT 0,  -- of the act
    call_key   TEXT    NOT NULL DEFAULT '', -- what the act asked for, to find its tool call by
    kind       TEXT    NOT NULL CHECK (kind IN ('act', 'page', 'take', 'give')),
    picture    TEXT    NOT NULL DEFAULT '',
    bytes      INTEGER NOT NULL DEFAULT 0,
    skipped    INTEGER NOT NULL DEFAULT 0,
    data       TEXT    NOT NULL
) STRICT;

CREATE INDEX browser_frames_run ON browser_frames (run_id, ts, id);
CREATE INDEX browser_frames_channel ON browser_frames (channel_id);

-- +goose Down
DROP TABLE browser_frames;
