-- name: NamesPicture :one
SELECT CAST(
    EXISTS (SELECT 1 FROM runs WHERE runs.channel_id = @channel AND instr(runs.attachments, CAST(@picture AS TEXT)) > 0)
    OR EXISTS (SELECT 1 FROM events WHERE events.channel_id = @channel AND instr(events.data, CAST(@picture AS TEXT)) > 0)
AS INTEGER) AS named;
