-- +goose Up
-- A browser holds its container as a run does.
ALTER TABLE leases RENAME TO leases_before_browsers;
CREATE TABLE leases (
    container TEXT    NOT NULL REFERENCES containers (key) ON DELETE CASCADE,
    kind      TEXT    NOT NULL CHECK (kind IN ('run', 'terminal', 'git', 'set-up', 'person', 'browser')),
    holder    TEXT    NOT NULL,
    taken_at  INTEGER NOT NULL,
    PRIMARY KEY (container, kind, holder)
) STRICT;
INSERT INTO leases SELECT container, kind, holder, taken_at FROM leases_before_browsers;
DROP TABLE leases_before_browsers;

-- +goose Down
DELETE FROM leases WHERE kind = 'browser';
ALTER TABLE leases RENAME TO leases_with_browsers;
CREATE TABLE leases (
    container TEXT    NOT NULL REFERENCES containers (key) ON DELETE CASCADE,
    kind      TEXT    NOT NULL CHECK (kind IN ('run', 'terminal', 'git', 'set-up', 'person')),
    holder    TEXT    NOT NULL,
    taken_at  INTEGER NOT NULL,
    PRIMARY KEY (container, kind, holder)
) STRICT;
INSERT INTO leases SELECT container, kind, holder, taken_at FROM leases_with_browsers;
DROP TABLE leases_with_browsers;
