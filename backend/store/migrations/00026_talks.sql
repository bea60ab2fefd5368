-- +goose Up
-- Conversations with the agent's CLI in terminals. What was said is in events, whose run_id is
-- the talk's id. data is core.TerminalTalk and what goes with the offset, as JSON.
CREATE TABLE talks (
    seq        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id         TEXT    NOT NULL UNIQUE,
    channel_id TEXT    NOT NULL REFERENCES channels (id) ON DELETE CASCADE,
    session_id TEXT    NOT NULL,
    begins_at  INTEGER NOT NULL, -- offsets in the transcript
    read_to    INTEGER NOT NULL,
    working    INTEGER NOT NULL,
    estimated  INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    data       TEXT    NOT NULL
) STRICT;

CREATE INDEX talks_session ON talks (channel_id, session_id, seq);
CREATE INDEX talks_working ON talks (working) WHERE working = 1;
CREATE INDEX talks_updated ON talks (updated_at);

-- What was added to the cost of a talk, and when: a talk may go on over midnight.
CREATE TABLE talk_costs (
    talk_id TEXT    NOT NULL REFERENCES talks (id) ON DELETE CASCADE,
    at      INTEGER NOT NULL,
    usd     REAL    NOT NULL
) STRICT;

CREATE INDEX talk_costs_at ON talk_costs (at);
CREATE INDEX talk_costs_talk ON talk_costs (talk_id);

-- untitled: the name was chosen by Loop, and the first prompt takes its place. origin is what
-- the channel's conversation continues, as JSON of core.Origin.
ALTER TABLE channels ADD COLUMN untitled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE channels ADD COLUMN origin TEXT NOT NULL DEFAULT '{}';

-- +goose Down
ALTER TABLE channels DROP COLUMN origin;
ALTER TABLE channels DROP COLUMN untitled;
DROP TABLE talk_costs;
DROP TABLE talks;
