-- +goose Up
-- A row has a key of its own: the name is what the engine knows the container by,
-- and may be handed on to another one.
ALTER TABLE containers RENAME TO containers_by_name;
CREATE TABLE containers (
    key        TEXT    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL,
    id         TEXT    NOT NULL DEFAULT '', -- the engine's; a row is written before the engine is called
    channel_id TEXT    NOT NULL,
    run_id     TEXT    NOT NULL DEFAULT '',
    type       TEXT    NOT NULL,
    status     TEXT    NOT NULL CHECK (status IN ('reserved', 'running', 'stopped', 'pending-removal')),
    image      TEXT    NOT NULL DEFAULT '',
    hash       TEXT    NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    remove_at  INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO containers
SELECT lower(hex(randomblob(16))), name, id, channel_id, run_id, type, status, image, hash, created_at, remove_at FROM containers_by_name;
DROP TABLE containers_by_name;
CREATE UNIQUE INDEX containers_id ON containers (id) WHERE id <> '';

-- Who needs a container.
CREATE TABLE leases (
    container TEXT    NOT NULL REFERENCES containers (key) ON DELETE CASCADE,
    kind      TEXT    NOT NULL CHECK (kind IN ('run', 'terminal', 'git', 'set-up', 'person')),
    holder    TEXT    NOT NULL,
    taken_at  INTEGER NOT NULL,
    PRIMARY KEY (container, kind, holder)
) STRICT;

-- Containers that are in use now get the holder that they were made for. Those of
-- programs that Loop ran by itself have neither a run nor a type of their own.
INSERT INTO leases
SELECT key, CASE WHEN type = 'shell' THEN 'person' WHEN run_id <> '' THEN 'run' ELSE 'git' END,
       CASE WHEN type = 'shell' THEN channel_id WHEN run_id <> '' THEN run_id ELSE key END, created_at
FROM containers WHERE status IN ('reserved', 'running') AND remove_at = 0;

-- +goose Down
DROP TABLE leases;
ALTER TABLE containers RENAME TO containers_by_key;
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
INSERT OR REPLACE INTO containers
SELECT name, id, channel_id, run_id, type, status, image, hash, created_at, remove_at FROM containers_by_key;
DROP TABLE containers_by_key;
CREATE UNIQUE INDEX containers_id ON containers (id) WHERE id <> '';
