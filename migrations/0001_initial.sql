-- The first schema.
--
-- State is in rows: what is held is `usage`, what is promised is `promised`; how much of a device is used is always
-- computed from them. A resource named '' stands for the share itself: every holder has one row of it with amount 1,
-- and a device that limits its shares has a capacity of it.
--
-- The tables and their constraints hold for everybody. The triggers are for every writer but the server, which has
-- decided what fits before it writes and keeps triggers off on its own connection: they make a hand in the sqlite3 shell
-- unable to break an invariant, also with foreign keys off and by INSERT OR REPLACE, which skips delete triggers.
--
-- Times are Unix milliseconds, amounts are in the operator's unit. Lists of names are texts with one name a line.

CREATE TABLE meta (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	db_id TEXT NOT NULL CHECK (length(db_id) = 32),
	epoch INTEGER NOT NULL,
	revision INTEGER NOT NULL,
	token INTEGER NOT NULL,
	now INTEGER NOT NULL,
	horizon INTEGER NOT NULL
) STRICT;

CREATE TABLE node (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	cordoned INTEGER NOT NULL CHECK (cordoned IN (0, 1)),
	unverified INTEGER NOT NULL CHECK (unverified IN (0, 1)),
	reason TEXT NOT NULL,
	last_seen_at INTEGER NOT NULL,
	revision INTEGER NOT NULL
) STRICT;

CREATE TABLE node_label (
	node_id INTEGER NOT NULL REFERENCES node (id) DEFERRABLE INITIALLY DEFERRED,
	key TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (node_id, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE device (
	id INTEGER PRIMARY KEY,
	node_id INTEGER NOT NULL REFERENCES node (id) DEFERRABLE INITIALLY DEFERRED,
	uuid TEXT NOT NULL UNIQUE,
	type TEXT NOT NULL,
	minor INTEGER NOT NULL,
	model TEXT NOT NULL,
	healthy INTEGER NOT NULL CHECK (healthy IN (0, 1)),
	cordoned INTEGER NOT NULL CHECK (cordoned IN (0, 1)),
	missing INTEGER NOT NULL CHECK (missing IN (0, 1)),
	numa INTEGER NOT NULL,
	socket INTEGER NOT NULL,
	pcie TEXT NOT NULL,
	bus_id TEXT NOT NULL,
	reason TEXT NOT NULL,
	revision INTEGER NOT NULL
) STRICT;

CREATE INDEX device_node ON device (node_id);

CREATE TABLE device_label (
	device_id INTEGER NOT NULL REFERENCES device (id) DEFERRABLE INITIALLY DEFERRED,
	key TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (device_id, key)
) STRICT, WITHOUT ROWID;

-- What a device has; resource '' is the number of shares it may be cut into, absent when there is no limit.
CREATE TABLE capacity (
	device_id INTEGER NOT NULL REFERENCES device (id) DEFERRABLE INITIALLY DEFERRED,
	resource TEXT NOT NULL,
	amount INTEGER NOT NULL CHECK (amount >= 0),
	PRIMARY KEY (device_id, resource)
) STRICT, WITHOUT ROWID;

-- `over`: forced in beyond what fits. `handed_out`: bit g stands for the request's group g.
CREATE TABLE allocation (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	namespace TEXT NOT NULL,
	name TEXT NOT NULL,
	gang TEXT NOT NULL,
	priority INTEGER NOT NULL,
	preemptible INTEGER NOT NULL CHECK (preemptible IN (0, 1)),
	external INTEGER NOT NULL CHECK (external IN (0, 1)),
	over INTEGER NOT NULL CHECK (over IN (0, 1)),
	node_id INTEGER NOT NULL REFERENCES node (id) DEFERRABLE INITIALLY DEFERRED,
	state TEXT NOT NULL CHECK (state IN ('reserved', 'bound', 'allocated', 'releasing')),
	handed_out INTEGER NOT NULL CHECK (handed_out >= 0),
	created_at INTEGER NOT NULL,
	state_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL CHECK ((expires_at > 0) = (state IN ('reserved', 'bound'))),
	token INTEGER NOT NULL CHECK (token > 0 OR (token = 0 AND state <> 'bound')),
	revision INTEGER NOT NULL,
	request TEXT NOT NULL
) STRICT;

-- What an allocation holds: for each of its shares of a device one row with resource '' and one for each amount.
-- `place` is the share's place in the allocation's list. No foreign key to allocation: the key begins with the device, so
-- that what a device has left is found at once, and a look for the rows of one allocation would read them all.
CREATE TABLE usage (
	device_id INTEGER NOT NULL REFERENCES device (id) DEFERRABLE INITIALLY DEFERRED,
	allocation_id INTEGER NOT NULL,
	claim INTEGER NOT NULL,
	resource TEXT NOT NULL,
	amount INTEGER NOT NULL CHECK (amount >= 0),
	whole INTEGER NOT NULL CHECK (whole IN (0, 1)),
	minor INTEGER NOT NULL,
	place INTEGER NOT NULL,
	PRIMARY KEY (device_id, allocation_id, claim, resource)
) STRICT, WITHOUT ROWID;

-- What a node agent said when it handed out the devices of one (container, type).
CREATE TABLE handout (
	allocation_id INTEGER NOT NULL,
	container TEXT NOT NULL,
	type TEXT NOT NULL,
	call TEXT NOT NULL,
	device_ids TEXT NOT NULL,
	confirmed_at INTEGER NOT NULL,
	detail TEXT NOT NULL,
	PRIMARY KEY (allocation_id, container, type)
) STRICT, WITHOUT ROWID;

CREATE TABLE nomination (
	id INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE,
	namespace TEXT NOT NULL,
	name TEXT NOT NULL,
	gang TEXT NOT NULL,
	priority INTEGER NOT NULL,
	preemptible INTEGER NOT NULL CHECK (preemptible IN (0, 1)),
	external INTEGER NOT NULL CHECK (external IN (0, 1)),
	node_id INTEGER NOT NULL REFERENCES node (id) DEFERRABLE INITIALLY DEFERRED,
	expires_at INTEGER NOT NULL,
	revision INTEGER NOT NULL,
	request TEXT NOT NULL
) STRICT;

-- What a nomination promises, in the form of `usage`.
CREATE TABLE promised (
	device_id INTEGER NOT NULL REFERENCES device (id) DEFERRABLE INITIALLY DEFERRED,
	nomination_id INTEGER NOT NULL,
	claim INTEGER NOT NULL,
	resource TEXT NOT NULL,
	amount INTEGER NOT NULL CHECK (amount >= 0),
	whole INTEGER NOT NULL CHECK (whole IN (0, 1)),
	minor INTEGER NOT NULL,
	place INTEGER NOT NULL,
	PRIMARY KEY (device_id, nomination_id, claim, resource)
) STRICT, WITHOUT ROWID;

-- The pods that must leave before a nomination can be used.
CREATE TABLE victim (
	nomination_id INTEGER NOT NULL REFERENCES nomination (id) DEFERRABLE INITIALLY DEFERRED,
	uid TEXT NOT NULL,
	PRIMARY KEY (nomination_id, uid)
) STRICT, WITHOUT ROWID;

CREATE TABLE lock (
	node_id INTEGER PRIMARY KEY REFERENCES node (id) DEFERRABLE INITIALLY DEFERRED,
	uid TEXT NOT NULL,
	token INTEGER NOT NULL CHECK (token > 0),
	acquired_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT;

-- A bind that ran out before anything was handed out.
CREATE TABLE lapse (
	node_id INTEGER NOT NULL REFERENCES node (id) DEFERRABLE INITIALLY DEFERRED,
	uid TEXT NOT NULL,
	at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	request TEXT NOT NULL,
	PRIMARY KEY (node_id, uid)
) STRICT, WITHOUT ROWID;

-- Why a pod is pending. `counts` has lines of slug=nodes, `nodes` is a sample of names.
CREATE TABLE refusal (
	uid TEXT NOT NULL PRIMARY KEY,
	namespace TEXT NOT NULL,
	name TEXT NOT NULL,
	gang TEXT NOT NULL,
	priority INTEGER NOT NULL,
	preemptible INTEGER NOT NULL CHECK (preemptible IN (0, 1)),
	external INTEGER NOT NULL CHECK (external IN (0, 1)),
	reason TEXT NOT NULL,
	message TEXT NOT NULL,
	first_at INTEGER NOT NULL,
	last_at INTEGER NOT NULL,
	count INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	request TEXT,
	counts TEXT NOT NULL,
	nodes TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What happened, in the order of id, which is also the order of (revision, n): a table that is only appended to and cut at its head.
CREATE TABLE event (
	id INTEGER PRIMARY KEY,
	revision INTEGER NOT NULL,
	n INTEGER NOT NULL,
	at INTEGER NOT NULL,
	kind TEXT NOT NULL,
	node TEXT NOT NULL,
	uid TEXT NOT NULL,
	actor TEXT NOT NULL,
	data TEXT NOT NULL
) STRICT;

INSERT INTO meta (id, db_id, epoch, revision, token, now, horizon)
VALUES (1, lower(hex(randomblob(16))), 1, 0, 0, 0, 0);
