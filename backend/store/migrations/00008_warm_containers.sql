-- +goose Up
-- What decides whether a container serves once more. Those of before have no scope, so
-- that nobody joins them.
ALTER TABLE containers ADD COLUMN scope TEXT NOT NULL DEFAULT '';
ALTER TABLE containers ADD COLUMN fixed TEXT NOT NULL DEFAULT '';
ALTER TABLE containers ADD COLUMN rights TEXT NOT NULL DEFAULT '';
ALTER TABLE containers ADD COLUMN last_used_at INTEGER NOT NULL DEFAULT 0;

-- A prompt that is being written holds a container.
ALTER TABLE leases RENAME TO leases_before_prompts;
CREATE TABLE leases (
    container TEXT    NOT NULL REFERENCES containers (key) ON DELETE CASCADE,
    kind      TEXT    NOT NULL CHECK (kind IN ('run', 'terminal', 'git', 'set-up', 'person', 'browser', 'prompt')),
    holder    TEXT    NOT NULL,
    taken_at  INTEGER NOT NULL,
    PRIMARY KEY (container, kind, holder)
) STRICT;
INSERT INTO leases SELECT container, kind, holder, taken_at FROM leases_before_prompts;
DROP TABLE leases_before_prompts;

-- +goose Down
DELETE FROM leases WHERE kind = 'prompt';
ALTER TABLE leases RENAME TO leases_with_prompts;
CREATE TABLE leases (
    container TEXT    NOT NULL REFERENCES containers (key) ON DELETE CASCADE,
    kind      TEXT    NOT NULL CHECK (kind IN ('run', 'terminal', 'git', 'set-up', 'person', 'browser')),
    holder    TEXT    NOT NULL,
    taken_at  INTEGER NOT NULL,
    PRIMARY KEY (container, kind, holder)
) STRICT;
INSERT INTO leases SELECT container, kind, holder, taken_at FROM leases_with_prompts;
DROP TABLE leases_with_prompts;
ALTER TABLE containers DROP COLUMN last_used_at;
ALTER TABLE containers DROP COLUMN rights;
ALTER TABLE containers DROP COLUMN fixed;
ALTER TABLE containers DROP COLUMN scope;
