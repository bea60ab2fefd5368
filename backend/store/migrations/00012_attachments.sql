-- +goose Up
-- The pictures that go with a prompt, as JSON; their bytes are in the channel's folder.
ALTER TABLE runs ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]';

-- +goose Down
ALTER TABLE runs DROP COLUMN attachments;
