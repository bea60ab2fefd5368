-- +goose Up
-- What the person chose for a channel alone: its agent, and the rest as JSON.
ALTER TABLE channels ADD COLUMN agent_id TEXT NOT NULL DEFAULT '';
ALTER TABLE channels ADD COLUMN choices TEXT NOT NULL DEFAULT '{}';

-- +goose Down
ALTER TABLE channels DROP COLUMN choices;
ALTER TABLE channels DROP COLUMN agent_id;
