-- +goose Up
-- Nobody is there to answer what the gate would ask about such a run.
ALTER TABLE runs ADD COLUMN unattended INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE runs DROP COLUMN unattended;
