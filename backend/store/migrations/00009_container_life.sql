-- +goose Up
-- How long a container of a scope goes on without holders, as the settings had it when it was
-- made; 0 is for ever. Those of before were made under a day and a week.
ALTER TABLE containers ADD COLUMN idle_ms INTEGER NOT NULL DEFAULT 86400000;
ALTER TABLE containers ADD COLUMN max_age_ms INTEGER NOT NULL DEFAULT 604800000;
-- Its limit; 0 is not known.
ALTER TABLE containers ADD COLUMN memory_bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE containers ADD COLUMN why TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE containers DROP COLUMN why;
ALTER TABLE containers DROP COLUMN memory_bytes;
ALTER TABLE containers DROP COLUMN max_age_ms;
ALTER TABLE containers DROP COLUMN idle_ms;
