-- What was restored from where, for ever: events are cut off, and the counters alone do not say it.
CREATE TABLE restore (
	epoch INTEGER PRIMARY KEY,       -- that began with it
	at INTEGER NOT NULL,
	revision INTEGER NOT NULL,       -- the first of the new epoch
	from_epoch INTEGER NOT NULL,
	from_revision INTEGER NOT NULL,  -- up to which everything came back
	source TEXT NOT NULL,            -- the file
	dropped INTEGER NOT NULL         -- reservations and nominations that did not come back
) STRICT;

CREATE TRIGGER restore_insert BEFORE INSERT ON restore WHEN EXISTS (SELECT 1 FROM restore WHERE epoch >= NEW.epoch) BEGIN
	SELECT RAISE (ABORT, 'history is not rewritten');
END;

CREATE TRIGGER restore_update BEFORE UPDATE ON restore BEGIN
	SELECT RAISE (ABORT, 'history is not rewritten');
END;

CREATE TRIGGER restore_delete BEFORE DELETE ON restore BEGIN
	SELECT RAISE (ABORT, 'history is not rewritten');
END;

-- For people. Times are UTC.

CREATE VIEW v_restore AS
SELECT epoch, strftime('%Y-%m-%d %H:%M:%f', at / 1000.0, 'unixepoch') AS time, revision, from_epoch, from_revision, dropped, source
FROM restore;

-- Who came and went on each device: one row for each event of a pod and each share of a device that it names.
CREATE VIEW v_device_history AS
SELECT event.revision, event.n, strftime('%Y-%m-%d %H:%M:%f', event.at / 1000.0, 'unixepoch') AS time, event.node,
	json_extract(share.value, '$.type') AS type, json_extract(share.value, '$.minor') AS minor, json_extract(share.value, '$.uuid') AS uuid,
	event.kind, event.uid, json_extract(event.data, '$.pod.namespace') AS namespace, json_extract(event.data, '$.pod.name') AS name,
	json_extract(share.value, '$.container') AS container,
	event.kind NOT IN ('pod.released', 'pod.unreserved', 'pod.expired', 'pod.lapsed', 'pod.failed') AS held,
	event.actor
FROM event, json_each(event.data, '$.devices') AS share
WHERE event.kind GLOB 'pod.*' AND json_extract(event.data, '$.state') IS NOT NULL;
