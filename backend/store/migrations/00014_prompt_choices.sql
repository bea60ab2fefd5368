-- +goose Up
-- The model and the effort of one prompt alone, and the commands that the agent CLI offered
-- when a channel's run last ended, as JSON.
ALTER TABLE runs ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN effort TEXT NOT NULL DEFAULT '';
ALTER TABLE channels ADD COLUMN commands TEXT NOT NULL DEFAULT 'null';

-- +goose Down
ALTER TABLE channels DROP COLUMN commands;
ALTER TABLE runs DROP COLUMN effort;
ALTER TABLE runs DROP COLUMN model;
