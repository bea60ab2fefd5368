-- +goose Up
-- What was said and done, by its words. The texts stay in events; this is the index alone,
-- whose rowid is the event's id. The channel is a word of its own, so that a search in one
-- channel does not walk through the others.
CREATE VIRTUAL TABLE said USING fts5(channel, words, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2');

-- Texts beyond a hundred thousand characters are found by their beginning.
CREATE VIEW event_words AS
SELECT id, channel_id, substr(CASE type
    WHEN 'message.created' THEN json_extract(data, '$.content')
    WHEN 'agent.thinking' THEN json_extract(data, '$.text')
    WHEN 'run.notice' THEN json_extract(data, '$.text')
    WHEN 'tool.result' THEN json_extract(data, '$.output')
    WHEN 'agent.status' THEN json_extract(data, '$.failure.cause')
    ELSE (SELECT group_concat(atom, ' ') FROM json_tree(data) WHERE json_tree.type = 'text' AND json_tree.key NOT IN ('tool_use_id', 'parent_tool_use_id', 'question_id', 'run_id', 'channel_id'))
END, 1, 100000) AS words
FROM events
WHERE json_valid(data) AND type IN ('message.created', 'agent.thinking', 'run.notice', 'tool.result', 'tool.use', 'agent.status', 'agent.ask_user', 'agent.exit_plan', 'agent.ask_resolved', 'agent.plan_resolved');

INSERT INTO said (rowid, channel, words)
SELECT id, channel_id, words FROM event_words WHERE words <> '';

-- +goose StatementBegin
CREATE TRIGGER events_said AFTER INSERT ON events BEGIN
    INSERT INTO said (rowid, channel, words) SELECT id, channel_id, words FROM event_words WHERE id = new.id AND words <> '';
END;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE TRIGGER events_unsaid AFTER DELETE ON events BEGIN
    DELETE FROM said WHERE rowid = old.id;
END;
-- +goose StatementEnd

-- A prompt that was taken out of the queue is in no timeline, and one that was edited is
-- there as it was sent.
-- +goose StatementBegin
CREATE TRIGGER events_resaid AFTER INSERT ON events WHEN new.type IN ('message.updated', 'message.deleted') BEGIN
    DELETE FROM said WHERE rowid IN (
        SELECT id FROM events WHERE run_id = new.run_id AND run_id <> '' AND type = 'message.created'
            AND json_extract(data, '$.msg_id') = json_extract(new.data, '$.msg_id'));
    INSERT INTO said (rowid, channel, words)
    SELECT id, channel_id, json_extract(new.data, '$.content') FROM events
    WHERE new.type = 'message.updated' AND run_id = new.run_id AND run_id <> '' AND type = 'message.created'
        AND json_extract(data, '$.msg_id') = json_extract(new.data, '$.msg_id');
END;
-- +goose StatementEnd

-- +goose Down
DROP TRIGGER events_resaid;
DROP TRIGGER events_unsaid;
DROP TRIGGER events_said;
DROP VIEW event_words;
DROP TABLE said;
