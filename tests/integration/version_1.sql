-- A database of version 1, as `sqlite3 allotd.db .dump` printed it: the tests bring it to the present version. Never changed; each later version
-- gets a file of its own.
PRAGMA page_size = 4096;
PRAGMA application_id = 1634495599;
PRAGMA user_version = 1;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE meta (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	db_id TEXT NOT NULL CHECK (length(db_id) = 32),
	epoch INTEGER NOT NULL,
	revision INTEGER NOT NULL,
	token INTEGER NOT NULL,
	now INTEGER NOT NULL,
	horizon INTEGER NOT NULL
) STRICT;
INSERT INTO meta VALUES(1,'0e0bd263ed529157230344568cd0e7f4',1,21,5,1795961448662,0);
CREATE TABLE node (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	cordoned INTEGER NOT NULL CHECK (cordoned IN (0, 1)),
	unverified INTEGER NOT NULL CHECK (unverified IN (0, 1)),
	reason TEXT NOT NULL,
	last_seen_at INTEGER NOT NULL,
	revision INTEGER NOT NULL
) STRICT;
INSERT INTO node VALUES(1,'n1',0,0,'',1795961387662,1);
INSERT INTO node VALUES(6,'n2',1,0,'repair',1795961387662,21);
CREATE TABLE node_label (
	node_id INTEGER NOT NULL REFERENCES node (id) DEFERRABLE INITIALLY DEFERRED,
	key TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (node_id, key)
) STRICT, WITHOUT ROWID;
INSERT INTO node_label VALUES(1,'pool','a');
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
INSERT INTO device VALUES(2,1,'n1-gpu-0','gpu',0,'A100',1,0,0,0,-1,'','','',1);
INSERT INTO device VALUES(3,1,'n1-gpu-1','gpu',1,'A100',1,0,0,0,-1,'','','',1);
INSERT INTO device VALUES(4,1,'n1-gpu-2','gpu',2,'A100',1,0,0,1,-1,'','','',1);
INSERT INTO device VALUES(5,1,'n1-gpu-3','gpu',3,'A100',1,0,0,1,-1,'','','',1);
INSERT INTO device VALUES(7,6,'n2-gpu-0','gpu',0,'A100',1,0,0,0,-1,'','','',2);
INSERT INTO device VALUES(8,6,'n2-gpu-1','gpu',1,'A100',1,0,0,0,-1,'','','',2);
INSERT INTO device VALUES(9,6,'n2-gpu-2','gpu',2,'A100',1,0,0,1,-1,'','','',2);
INSERT INTO device VALUES(10,6,'n2-gpu-3','gpu',3,'A100',0,0,0,1,-1,'','','Xid 79',20);
CREATE TABLE device_label (
	device_id INTEGER NOT NULL REFERENCES device (id) DEFERRABLE INITIALLY DEFERRED,
	key TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (device_id, key)
) STRICT, WITHOUT ROWID;
INSERT INTO device_label VALUES(2,'slot','0');
INSERT INTO device_label VALUES(3,'slot','1');
INSERT INTO device_label VALUES(4,'slot','2');
INSERT INTO device_label VALUES(5,'slot','3');
INSERT INTO device_label VALUES(7,'slot','0');
INSERT INTO device_label VALUES(8,'slot','1');
INSERT INTO device_label VALUES(9,'slot','2');
INSERT INTO device_label VALUES(10,'slot','3');
CREATE TABLE capacity (
	device_id INTEGER NOT NULL REFERENCES device (id) DEFERRABLE INITIALLY DEFERRED,
	resource TEXT NOT NULL,
	amount INTEGER NOT NULL CHECK (amount >= 0),
	PRIMARY KEY (device_id, resource)
) STRICT, WITHOUT ROWID;
INSERT INTO capacity VALUES(2,'',8);
INSERT INTO capacity VALUES(2,'core',100);
INSERT INTO capacity VALUES(2,'memory',80);
INSERT INTO capacity VALUES(3,'',8);
INSERT INTO capacity VALUES(3,'core',100);
INSERT INTO capacity VALUES(3,'memory',80);
INSERT INTO capacity VALUES(4,'',8);
INSERT INTO capacity VALUES(4,'core',100);
INSERT INTO capacity VALUES(4,'memory',80);
INSERT INTO capacity VALUES(5,'',8);
INSERT INTO capacity VALUES(5,'core',100);
INSERT INTO capacity VALUES(5,'memory',80);
INSERT INTO capacity VALUES(7,'',8);
INSERT INTO capacity VALUES(7,'core',100);
INSERT INTO capacity VALUES(7,'memory',80);
INSERT INTO capacity VALUES(8,'',8);
INSERT INTO capacity VALUES(8,'core',100);
INSERT INTO capacity VALUES(8,'memory',80);
INSERT INTO capacity VALUES(9,'',8);
INSERT INTO capacity VALUES(9,'core',100);
INSERT INTO capacity VALUES(9,'memory',80);
INSERT INTO capacity VALUES(10,'',8);
INSERT INTO capacity VALUES(10,'core',100);
INSERT INTO capacity VALUES(10,'memory',80);
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
INSERT INTO allocation VALUES(11,'allocated','ns','train','',5,1,0,0,1,'allocated',1,1795961387662,1795961387662,0,1,6,'[{"type":"gpu","count":2,"container":"main","models":[],"labels":{},"uuids":[],"exclude_uuids":[],"together":"","agent":true,"reuse":""}]');
INSERT INTO allocation VALUES(12,'releasing','default','releasing','',0,1,0,0,6,'releasing',1,1795961387662,1795961387662,0,2,10,'[{"type":"gpu","count":1,"container":"","models":[],"labels":{},"uuids":[],"exclude_uuids":[],"together":"","agent":true,"reuse":""}]');
INSERT INTO allocation VALUES(14,'bound','default','bound','g',0,1,0,0,1,'bound',0,1795961448662,1795961448662,1795961748662,4,15,'[{"type":"gpu","count":1,"container":"a","resources":{"core":60,"memory":10},"models":[],"labels":{},"uuids":[],"exclude_uuids":[],"together":"","agent":true,"reuse":""},{"type":"gpu","count":1,"container":"b","resources":{"core":30},"models":[],"labels":{},"uuids":[],"exclude_uuids":[],"together":"","agent":true,"reuse":""}]');
INSERT INTO allocation VALUES(15,'reserved','default','reserved','',0,1,0,0,1,'reserved',0,1795961448662,1795961448662,1795962048662,0,16,'[{"type":"gpu","count":1,"container":"","resources":{"core":10},"models":[],"labels":{},"uuids":[],"exclude_uuids":[],"together":"","agent":true,"reuse":""}]');
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
INSERT INTO usage VALUES(2,11,0,'',1,1,0,0);
INSERT INTO usage VALUES(2,11,0,'core',100,1,0,0);
INSERT INTO usage VALUES(2,11,0,'memory',80,1,0,0);
INSERT INTO usage VALUES(3,11,0,'',1,1,1,1);
INSERT INTO usage VALUES(3,11,0,'core',100,1,1,1);
INSERT INTO usage VALUES(3,11,0,'memory',80,1,1,1);
INSERT INTO usage VALUES(4,14,0,'',1,0,2,0);
INSERT INTO usage VALUES(4,14,0,'core',60,0,2,0);
INSERT INTO usage VALUES(4,14,0,'memory',10,0,2,0);
INSERT INTO usage VALUES(4,14,1,'',1,0,2,1);
INSERT INTO usage VALUES(4,14,1,'core',30,0,2,1);
INSERT INTO usage VALUES(4,15,0,'',1,0,2,0);
INSERT INTO usage VALUES(4,15,0,'core',10,0,2,0);
INSERT INTO usage VALUES(7,12,0,'',1,1,0,0);
INSERT INTO usage VALUES(7,12,0,'core',100,1,0,0);
INSERT INTO usage VALUES(7,12,0,'memory',80,1,0,0);
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
INSERT INTO handout VALUES(11,'main','gpu','first',replace('k1\nk2','\n',char(10)),1795961387662,'');
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
INSERT INTO nomination VALUES(16,'nominated','default','nominated','',10,1,0,1,1795962048662,17,'[{"type":"gpu","count":1,"container":"","models":[],"labels":{},"uuids":[],"exclude_uuids":[],"together":"","agent":true,"reuse":""}]');
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
INSERT INTO promised VALUES(2,16,0,'',1,1,0,0);
INSERT INTO promised VALUES(2,16,0,'core',100,1,0,0);
INSERT INTO promised VALUES(2,16,0,'memory',80,1,0,0);
CREATE TABLE victim (
	nomination_id INTEGER NOT NULL REFERENCES nomination (id) DEFERRABLE INITIALLY DEFERRED,
	uid TEXT NOT NULL,
	PRIMARY KEY (nomination_id, uid)
) STRICT, WITHOUT ROWID;
INSERT INTO victim VALUES(16,'allocated');
CREATE TABLE lock (
	node_id INTEGER PRIMARY KEY REFERENCES node (id) DEFERRABLE INITIALLY DEFERRED,
	uid TEXT NOT NULL,
	token INTEGER NOT NULL CHECK (token > 0),
	acquired_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	ttl INTEGER NOT NULL
) STRICT;
INSERT INTO lock VALUES(1,'bound',4,1795961448662,1795961748662,300000);
INSERT INTO lock VALUES(6,'somebody',5,1795961448662,1795965048662,3600000);
CREATE TABLE lapse (
	node_id INTEGER NOT NULL REFERENCES node (id) DEFERRABLE INITIALLY DEFERRED,
	uid TEXT NOT NULL,
	at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL,
	request TEXT NOT NULL,
	PRIMARY KEY (node_id, uid)
) STRICT, WITHOUT ROWID;
INSERT INTO lapse VALUES(6,'lapsed',1795961447662,1796047847662,'[{"type":"gpu","count":1,"container":"","resources":{"core":"25%"},"models":[],"labels":{},"uuids":[],"exclude_uuids":[],"together":"","agent":true,"reuse":""}]');
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
INSERT INTO refusal VALUES('refused','default','refused','',0,1,0,'insufficient','',1795961448662,1795961448662,1,1796047848662,'[{"type":"gpu","count":9,"container":"","models":[],"labels":{},"uuids":[],"exclude_uuids":[],"together":"","agent":true,"reuse":""}]','no_match=2',replace('n1\nn2','\n',char(10)));
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
INSERT INTO event VALUES(1,1,0,1795961387662,'node.registered','n1','','unix:uid=0,pid=13084','{"node":"n1","cordoned":false,"unverified":false,"labels":{"pool":"a"},"revision":1}');
INSERT INTO event VALUES(2,1,1,1795961387662,'device.added','n1','','unix:uid=0,pid=13084','{"node":"n1","uuid":"n1-gpu-0","type":"gpu","minor":0,"model":"A100","healthy":true,"cordoned":false,"missing":false,"capacity":{"core":100,"memory":80},"max_shares":8,"numa":0,"socket":-1,"pcie":"","bus_id":"","labels":{"slot":"0"},"revision":1}');
INSERT INTO event VALUES(3,1,2,1795961387662,'device.added','n1','','unix:uid=0,pid=13084','{"node":"n1","uuid":"n1-gpu-1","type":"gpu","minor":1,"model":"A100","healthy":true,"cordoned":false,"missing":false,"capacity":{"core":100,"memory":80},"max_shares":8,"numa":0,"socket":-1,"pcie":"","bus_id":"","labels":{"slot":"1"},"revision":1}');
INSERT INTO event VALUES(4,1,3,1795961387662,'device.added','n1','','unix:uid=0,pid=13084','{"node":"n1","uuid":"n1-gpu-2","type":"gpu","minor":2,"model":"A100","healthy":true,"cordoned":false,"missing":false,"capacity":{"core":100,"memory":80},"max_shares":8,"numa":1,"socket":-1,"pcie":"","bus_id":"","labels":{"slot":"2"},"revision":1}');
INSERT INTO event VALUES(5,1,4,1795961387662,'device.added','n1','','unix:uid=0,pid=13084','{"node":"n1","uuid":"n1-gpu-3","type":"gpu","minor":3,"model":"A100","healthy":true,"cordoned":false,"missing":false,"capacity":{"core":100,"memory":80},"max_shares":8,"numa":1,"socket":-1,"pcie":"","bus_id":"","labels":{"slot":"3"},"revision":1}');
INSERT INTO event VALUES(6,2,0,1795961387662,'node.registered','n2','','unix:uid=0,pid=13091','{"node":"n2","cordoned":false,"unverified":false,"labels":{},"revision":2}');
INSERT INTO event VALUES(7,2,1,1795961387662,'device.added','n2','','unix:uid=0,pid=13091','{"node":"n2","uuid":"n2-gpu-0","type":"gpu","minor":0,"model":"A100","healthy":true,"cordoned":false,"missing":false,"capacity":{"core":100,"memory":80},"max_shares":8,"numa":0,"socket":-1,"pcie":"","bus_id":"","labels":{"slot":"0"},"revision":2}');
INSERT INTO event VALUES(8,2,2,1795961387662,'device.added','n2','','unix:uid=0,pid=13091','{"node":"n2","uuid":"n2-gpu-1","type":"gpu","minor":1,"model":"A100","healthy":true,"cordoned":false,"missing":false,"capacity":{"core":100,"memory":80},"max_shares":8,"numa":0,"socket":-1,"pcie":"","bus_id":"","labels":{"slot":"1"},"revision":2}');
INSERT INTO event VALUES(9,2,3,1795961387662,'device.added','n2','','unix:uid=0,pid=13091','{"node":"n2","uuid":"n2-gpu-2","type":"gpu","minor":2,"model":"A100","healthy":true,"cordoned":false,"missing":false,"capacity":{"core":100,"memory":80},"max_shares":8,"numa":1,"socket":-1,"pcie":"","bus_id":"","labels":{"slot":"2"},"revision":2}');
INSERT INTO event VALUES(10,2,4,1795961387662,'device.added','n2','','unix:uid=0,pid=13091','{"node":"n2","uuid":"n2-gpu-3","type":"gpu","minor":3,"model":"A100","healthy":true,"cordoned":false,"missing":false,"capacity":{"core":100,"memory":80},"max_shares":8,"numa":1,"socket":-1,"pcie":"","bus_id":"","labels":{"slot":"3"},"revision":2}');
INSERT INTO event VALUES(11,3,0,1795961387662,'pod.reserved','n1','allocated','unix:uid=0,pid=13096','{"pod":{"uid":"allocated","namespace":"ns","name":"train","priority":5,"preemptible":true,"external":false},"node":"n1","state":"reserved","devices":[{"container":"main","type":"gpu","uuid":"n1-gpu-0","minor":0,"whole":true,"resources":{"core":100,"memory":80},"claimed":false},{"container":"main","type":"gpu","uuid":"n1-gpu-1","minor":1,"whole":true,"resources":{"core":100,"memory":80},"claimed":false}],"created_at":1795961387662,"state_at":1795961387662,"expires_at":1795961987662,"revision":3}');
INSERT INTO event VALUES(12,4,0,1795961387662,'pod.bound','n1','allocated','unix:uid=0,pid=13098','{"pod":{"uid":"allocated","namespace":"ns","name":"train","priority":5,"preemptible":true,"external":false},"node":"n1","state":"bound","devices":[{"container":"main","type":"gpu","uuid":"n1-gpu-0","minor":0,"whole":true,"resources":{"core":100,"memory":80},"claimed":false},{"container":"main","type":"gpu","uuid":"n1-gpu-1","minor":1,"whole":true,"resources":{"core":100,"memory":80},"claimed":false}],"created_at":1795961387662,"state_at":1795961387662,"expires_at":1795961687662,"token":1,"revision":4}');
INSERT INTO event VALUES(13,5,0,1795961387662,'pod.allocated','n1','allocated','unix:uid=0,pid=13099','{"pod":{"uid":"allocated","namespace":"ns","name":"train","priority":5,"preemptible":true,"external":false},"node":"n1","state":"allocated","devices":[{"container":"main","type":"gpu","uuid":"n1-gpu-0","minor":0,"whole":true,"resources":{"core":100,"memory":80},"claimed":true},{"container":"main","type":"gpu","uuid":"n1-gpu-1","minor":1,"whole":true,"resources":{"core":100,"memory":80},"claimed":true}],"created_at":1795961387662,"state_at":1795961387662,"token":1,"revision":5}');
INSERT INTO event VALUES(14,6,0,1795961387662,'pod.confirmed','n1','allocated','unix:uid=0,pid=13100','{"pod":{"uid":"allocated","namespace":"ns","name":"train","priority":5,"preemptible":true,"external":false},"node":"n1","state":"allocated","devices":[{"container":"main","type":"gpu","uuid":"n1-gpu-0","minor":0,"whole":true,"resources":{"core":100,"memory":80},"claimed":true},{"container":"main","type":"gpu","uuid":"n1-gpu-1","minor":1,"whole":true,"resources":{"core":100,"memory":80},"claimed":true}],"created_at":1795961387662,"state_at":1795961387662,"token":1,"revision":6}');
INSERT INTO event VALUES(15,7,0,1795961387662,'pod.reserved','n2','releasing','unix:uid=0,pid=13101','{"pod":{"uid":"releasing","namespace":"default","name":"releasing","priority":0,"preemptible":true,"external":false},"node":"n2","state":"reserved","devices":[{"container":"","type":"gpu","uuid":"n2-gpu-0","minor":0,"whole":true,"resources":{"core":100,"memory":80},"claimed":false}],"created_at":1795961387662,"state_at":1795961387662,"expires_at":1795961987662,"revision":7}');
INSERT INTO event VALUES(16,8,0,1795961387662,'pod.bound','n2','releasing','unix:uid=0,pid=13102','{"pod":{"uid":"releasing","namespace":"default","name":"releasing","priority":0,"preemptible":true,"external":false},"node":"n2","state":"bound","devices":[{"container":"","type":"gpu","uuid":"n2-gpu-0","minor":0,"whole":true,"resources":{"core":100,"memory":80},"claimed":false}],"created_at":1795961387662,"state_at":1795961387662,"expires_at":1795961687662,"token":2,"revision":8}');
INSERT INTO event VALUES(17,9,0,1795961387662,'pod.allocated','n2','releasing','unix:uid=0,pid=13103','{"pod":{"uid":"releasing","namespace":"default","name":"releasing","priority":0,"preemptible":true,"external":false},"node":"n2","state":"allocated","devices":[{"container":"","type":"gpu","uuid":"n2-gpu-0","minor":0,"whole":true,"resources":{"core":100,"memory":80},"claimed":true}],"created_at":1795961387662,"state_at":1795961387662,"token":2,"revision":9}');
INSERT INTO event VALUES(18,10,0,1795961387662,'pod.releasing','n2','releasing','unix:uid=0,pid=13104','{"pod":{"uid":"releasing","namespace":"default","name":"releasing","priority":0,"preemptible":true,"external":false},"node":"n2","state":"releasing","devices":[{"container":"","type":"gpu","uuid":"n2-gpu-0","minor":0,"whole":true,"resources":{"core":100,"memory":80},"claimed":true}],"created_at":1795961387662,"state_at":1795961387662,"token":2,"revision":10}');
INSERT INTO event VALUES(19,11,0,1795961387662,'pod.reserved','n2','lapsed','unix:uid=0,pid=13105','{"pod":{"uid":"lapsed","namespace":"default","name":"lapsed","priority":0,"preemptible":true,"external":false},"node":"n2","state":"reserved","devices":[{"container":"","type":"gpu","uuid":"n2-gpu-1","minor":1,"whole":false,"resources":{"core":25},"claimed":false}],"created_at":1795961387662,"state_at":1795961387662,"expires_at":1795961987662,"revision":11}');
INSERT INTO event VALUES(20,12,0,1795961387662,'pod.bound','n2','lapsed','unix:uid=0,pid=13106','{"pod":{"uid":"lapsed","namespace":"default","name":"lapsed","priority":0,"preemptible":true,"external":false},"node":"n2","state":"bound","devices":[{"container":"","type":"gpu","uuid":"n2-gpu-1","minor":1,"whole":false,"resources":{"core":25},"claimed":false}],"created_at":1795961387662,"state_at":1795961387662,"expires_at":1795961447662,"token":3,"revision":12}');
INSERT INTO event VALUES(21,13,0,1795961447662,'pod.lapsed','n2','lapsed','server','{"pod":{"uid":"lapsed","namespace":"default","name":"lapsed","priority":0,"preemptible":true,"external":false},"node":"n2","state":"bound","devices":[{"container":"","type":"gpu","uuid":"n2-gpu-1","minor":1,"whole":false,"resources":{"core":25},"claimed":false}],"created_at":1795961387662,"state_at":1795961387662,"expires_at":1795961447662,"token":3,"revision":12}');
INSERT INTO event VALUES(22,14,0,1795961448662,'pod.reserved','n1','bound','unix:uid=0,pid=13108','{"pod":{"uid":"bound","namespace":"default","name":"bound","priority":0,"preemptible":true,"gang":"g","external":false},"node":"n1","state":"reserved","devices":[{"container":"a","type":"gpu","uuid":"n1-gpu-2","minor":2,"whole":false,"resources":{"core":60,"memory":10},"claimed":false},{"container":"b","type":"gpu","uuid":"n1-gpu-2","minor":2,"whole":false,"resources":{"core":30},"claimed":false}],"created_at":1795961448662,"state_at":1795961448662,"expires_at":1795962048662,"revision":14}');
INSERT INTO event VALUES(23,15,0,1795961448662,'pod.bound','n1','bound','unix:uid=0,pid=13109','{"pod":{"uid":"bound","namespace":"default","name":"bound","priority":0,"preemptible":true,"gang":"g","external":false},"node":"n1","state":"bound","devices":[{"container":"a","type":"gpu","uuid":"n1-gpu-2","minor":2,"whole":false,"resources":{"core":60,"memory":10},"claimed":false},{"container":"b","type":"gpu","uuid":"n1-gpu-2","minor":2,"whole":false,"resources":{"core":30},"claimed":false}],"created_at":1795961448662,"state_at":1795961448662,"expires_at":1795961748662,"token":4,"revision":15}');
INSERT INTO event VALUES(24,16,0,1795961448662,'pod.reserved','n1','reserved','unix:uid=0,pid=13110','{"pod":{"uid":"reserved","namespace":"default","name":"reserved","priority":0,"preemptible":true,"external":false},"node":"n1","state":"reserved","devices":[{"container":"","type":"gpu","uuid":"n1-gpu-2","minor":2,"whole":false,"resources":{"core":10},"claimed":false}],"created_at":1795961448662,"state_at":1795961448662,"expires_at":1795962048662,"revision":16}');
INSERT INTO event VALUES(25,17,0,1795961448662,'nomination.set','n1','nominated','unix:uid=0,pid=13111','{"pod":{"uid":"nominated","namespace":"default","name":"nominated","priority":10,"preemptible":true,"external":false},"node":"n1","devices":[{"container":"","type":"gpu","uuid":"n1-gpu-0","minor":0,"whole":true,"resources":{"core":100,"memory":80}}],"victims":["allocated"],"expires_at":1795962048662,"revision":17}');
INSERT INTO event VALUES(26,17,1,1795961448662,'pod.preempted','n1','allocated','unix:uid=0,pid=13111','{"pod":{"uid":"allocated","namespace":"ns","name":"train","priority":5,"preemptible":true,"external":false},"node":"n1","state":"allocated","devices":[{"container":"main","type":"gpu","uuid":"n1-gpu-0","minor":0,"whole":true,"resources":{"core":100,"memory":80},"claimed":true},{"container":"main","type":"gpu","uuid":"n1-gpu-1","minor":1,"whole":true,"resources":{"core":100,"memory":80},"claimed":true}],"created_at":1795961387662,"state_at":1795961387662,"token":1,"revision":6,"by":"nominated"}');
INSERT INTO event VALUES(27,18,0,1795961448662,'pod.refused','','refused','unix:uid=0,pid=13112','{"pod":{"uid":"refused","namespace":"default","name":"refused","priority":0,"preemptible":true,"external":false},"reason":"insufficient","first_at":1795961448662,"last_at":1795961448662,"count":1,"counts":{"no_match":2},"request":[{"type":"gpu","count":9,"container":"","models":[],"labels":{},"uuids":[],"exclude_uuids":[],"together":"","agent":true,"reuse":""}],"nodes":["n1","n2"]}');
INSERT INTO event VALUES(28,19,0,1795961448662,'lock.acquired','n2','somebody','unix:uid=0,pid=13113','{"node":"n2","uid":"somebody","token":5,"acquired_at":1795961448662,"expires_at":1795965048662}');
INSERT INTO event VALUES(29,20,0,1795961448662,'device.updated','n2','','unix:uid=0,pid=13114','{"node":"n2","uuid":"n2-gpu-3","type":"gpu","minor":3,"model":"A100","healthy":false,"cordoned":false,"missing":false,"reason":"Xid 79","capacity":{"core":100,"memory":80},"max_shares":8,"numa":1,"socket":-1,"pcie":"","bus_id":"","labels":{"slot":"3"},"revision":20}');
INSERT INTO event VALUES(30,21,0,1795961448662,'node.cordoned','n2','','unix:uid=0,pid=13115','{"node":"n2","cordoned":true,"unverified":false,"labels":{},"revision":21,"reason":"repair"}');
CREATE INDEX device_node ON device (node_id);
CREATE TRIGGER meta_insert BEFORE INSERT ON meta WHEN EXISTS (SELECT 1 FROM meta) BEGIN
	SELECT RAISE (ABORT, 'meta has one row');
END;
CREATE TRIGGER meta_update BEFORE UPDATE ON meta
WHEN NEW.id <> OLD.id OR NEW.db_id <> OLD.db_id OR NEW.epoch < OLD.epoch OR NEW.revision < OLD.revision OR NEW.token < OLD.token
	OR NEW.now < OLD.now OR NEW.horizon < OLD.horizon
BEGIN
	SELECT RAISE (ABORT, 'the identity of a database stays and its counters only rise');
END;
CREATE TRIGGER meta_delete BEFORE DELETE ON meta BEGIN
	SELECT RAISE (ABORT, 'meta has one row');
END;
CREATE TRIGGER node_insert BEFORE INSERT ON node WHEN EXISTS (SELECT 1 FROM node WHERE id = NEW.id OR name = NEW.name) BEGIN
	SELECT RAISE (ABORT, 'the node is there already');
END;
CREATE TRIGGER node_update BEFORE UPDATE ON node WHEN NEW.id <> OLD.id OR NEW.name <> OLD.name BEGIN
	SELECT RAISE (ABORT, 'id and name of a node stay');
END;
CREATE TRIGGER node_delete BEFORE DELETE ON node BEGIN
	SELECT RAISE (ABORT, 'the node has devices') WHERE EXISTS (SELECT 1 FROM device WHERE node_id = OLD.id);
	SELECT RAISE (ABORT, 'pods are on the node') WHERE EXISTS (SELECT 1 FROM allocation WHERE node_id = OLD.id);
	SELECT RAISE (ABORT, 'pods are nominated to the node') WHERE EXISTS (SELECT 1 FROM nomination WHERE node_id = OLD.id);
END;
CREATE TRIGGER node_deleted AFTER DELETE ON node BEGIN
	DELETE FROM node_label WHERE node_id = OLD.id;
	DELETE FROM lock WHERE node_id = OLD.id;
	DELETE FROM lapse WHERE node_id = OLD.id;
END;
CREATE TRIGGER node_label_insert BEFORE INSERT ON node_label WHEN NOT EXISTS (SELECT 1 FROM node WHERE id = NEW.node_id) BEGIN
	SELECT RAISE (ABORT, 'no such node');
END;
CREATE TRIGGER node_label_update BEFORE UPDATE ON node_label WHEN NEW.node_id <> OLD.node_id BEGIN
	SELECT RAISE (ABORT, 'a label stays with its node');
END;
CREATE TRIGGER device_insert BEFORE INSERT ON device BEGIN
	SELECT RAISE (ABORT, 'the device is there already') WHERE EXISTS (SELECT 1 FROM device WHERE id = NEW.id OR uuid = NEW.uuid);
	SELECT RAISE (ABORT, 'no such node') WHERE NOT EXISTS (SELECT 1 FROM node WHERE id = NEW.node_id);
END;
CREATE TRIGGER device_update BEFORE UPDATE ON device
WHEN NEW.id <> OLD.id OR NEW.uuid <> OLD.uuid OR NEW.node_id <> OLD.node_id
BEGIN
	SELECT RAISE (ABORT, 'id, uuid and node of a device stay');
END;
CREATE TRIGGER device_delete BEFORE DELETE ON device BEGIN
	SELECT RAISE (ABORT, 'the device is held') WHERE EXISTS (SELECT 1 FROM usage WHERE device_id = OLD.id);
	SELECT RAISE (ABORT, 'the device is promised') WHERE EXISTS (SELECT 1 FROM promised WHERE device_id = OLD.id);
END;
CREATE TRIGGER device_deleted AFTER DELETE ON device BEGIN
	DELETE FROM capacity WHERE device_id = OLD.id;
	DELETE FROM device_label WHERE device_id = OLD.id;
END;
CREATE TRIGGER device_label_insert BEFORE INSERT ON device_label WHEN NOT EXISTS (SELECT 1 FROM device WHERE id = NEW.device_id) BEGIN
	SELECT RAISE (ABORT, 'no such device');
END;
CREATE TRIGGER device_label_update BEFORE UPDATE ON device_label WHEN NEW.device_id <> OLD.device_id BEGIN
	SELECT RAISE (ABORT, 'a label stays with its device');
END;
CREATE TRIGGER capacity_insert BEFORE INSERT ON capacity WHEN NOT EXISTS (SELECT 1 FROM device WHERE id = NEW.device_id) BEGIN
	SELECT RAISE (ABORT, 'no such device');
END;
CREATE TRIGGER capacity_update BEFORE UPDATE ON capacity WHEN NEW.device_id <> OLD.device_id OR NEW.resource <> OLD.resource BEGIN
	SELECT RAISE (ABORT, 'a capacity stays with its device and resource');
END;
CREATE TRIGGER allocation_insert BEFORE INSERT ON allocation BEGIN
	SELECT RAISE (ABORT, 'the pod has an allocation already') WHERE EXISTS (SELECT 1 FROM allocation WHERE uid = NEW.uid OR id = NEW.id);
	SELECT RAISE (ABORT, 'no such node') WHERE NOT EXISTS (SELECT 1 FROM node WHERE id = NEW.node_id);
	SELECT RAISE (ABORT, 'a bound pod holds the lock of its node') WHERE NEW.state = 'bound'
		AND NOT EXISTS (SELECT 1 FROM lock WHERE node_id = NEW.node_id AND uid = NEW.uid AND token = NEW.token);
END;
CREATE TRIGGER allocation_update BEFORE UPDATE ON allocation BEGIN
	SELECT RAISE (ABORT, 'what an allocation is stays; only its life goes on')
		WHERE NEW.id <> OLD.id OR NEW.uid <> OLD.uid OR NEW.namespace <> OLD.namespace OR NEW.name <> OLD.name OR NEW.gang <> OLD.gang
			OR NEW.over <> OLD.over OR NEW.node_id <> OLD.node_id OR NEW.created_at <> OLD.created_at OR NEW.request <> OLD.request;
	SELECT RAISE (ABORT, 'a bound pod holds the lock of its node') WHERE NEW.state = 'bound'
		AND NOT EXISTS (SELECT 1 FROM lock WHERE node_id = NEW.node_id AND uid = NEW.uid AND token = NEW.token);
END;
CREATE TRIGGER allocation_deleted AFTER DELETE ON allocation BEGIN
	DELETE FROM usage WHERE device_id IN (SELECT id FROM device WHERE node_id = OLD.node_id) AND allocation_id = OLD.id;
	DELETE FROM handout WHERE allocation_id = OLD.id;
	DELETE FROM lock WHERE node_id = OLD.node_id AND uid = OLD.uid;
END;
CREATE TRIGGER usage_insert BEFORE INSERT ON usage BEGIN
	SELECT RAISE (ABORT, 'the share is there already') WHERE EXISTS (SELECT 1 FROM usage WHERE device_id = NEW.device_id
		AND allocation_id = NEW.allocation_id AND claim = NEW.claim AND resource = NEW.resource);
	SELECT RAISE (ABORT, 'no such allocation') WHERE NOT EXISTS (SELECT 1 FROM allocation WHERE id = NEW.allocation_id);
	SELECT RAISE (ABORT, 'the device is not on the node of the pod') WHERE (SELECT node_id FROM device WHERE id = NEW.device_id)
		IS NOT (SELECT node_id FROM allocation WHERE id = NEW.allocation_id);
	SELECT RAISE (ABORT, 'a share begins with its own row, of amount 1')
		WHERE (NEW.resource = '' AND NEW.amount <> 1) OR (NEW.resource <> '' AND NOT EXISTS (SELECT 1 FROM usage
			WHERE device_id = NEW.device_id AND allocation_id = NEW.allocation_id AND claim = NEW.claim AND resource = ''
			AND whole = NEW.whole AND place = NEW.place));
	SELECT RAISE (ABORT, 'the device is held whole, or was to be') WHERE NOT (SELECT over FROM allocation WHERE id = NEW.allocation_id)
		AND EXISTS (SELECT 1 FROM usage WHERE device_id = NEW.device_id AND (whole OR NEW.whole)
			AND (allocation_id <> NEW.allocation_id OR claim <> NEW.claim));
	SELECT RAISE (ABORT, 'the device has not that much left') WHERE NOT (SELECT over FROM allocation WHERE id = NEW.allocation_id)
		AND NEW.amount + (SELECT coalesce(sum(amount), 0) FROM usage WHERE device_id = NEW.device_id AND resource = NEW.resource)
			> coalesce((SELECT amount FROM capacity WHERE device_id = NEW.device_id AND resource = NEW.resource),
				CASE NEW.resource WHEN '' THEN 9223372036854775807 ELSE 0 END);
END;
CREATE TRIGGER usage_update BEFORE UPDATE ON usage BEGIN
	SELECT RAISE (ABORT, 'what a pod holds stays until it is released');
END;
CREATE TRIGGER usage_delete BEFORE DELETE ON usage WHEN EXISTS (SELECT 1 FROM allocation WHERE id = OLD.allocation_id) BEGIN
	SELECT RAISE (ABORT, 'what a pod holds stays until it is released: delete its allocation');
END;
CREATE TRIGGER handout_insert BEFORE INSERT ON handout BEGIN
	SELECT RAISE (ABORT, 'no such allocation') WHERE NOT EXISTS (SELECT 1 FROM allocation WHERE id = NEW.allocation_id);
	SELECT RAISE (ABORT, 'this was handed out already') WHERE EXISTS (SELECT 1 FROM handout
		WHERE allocation_id = NEW.allocation_id AND container = NEW.container AND type = NEW.type);
END;
CREATE TRIGGER handout_update BEFORE UPDATE ON handout
WHEN NEW.allocation_id <> OLD.allocation_id OR NEW.container <> OLD.container OR NEW.type <> OLD.type
BEGIN
	SELECT RAISE (ABORT, 'what was handed out stays with its pod and container');
END;
CREATE TRIGGER nomination_insert BEFORE INSERT ON nomination BEGIN
	SELECT RAISE (ABORT, 'the pod has a nomination already') WHERE EXISTS (SELECT 1 FROM nomination WHERE uid = NEW.uid OR id = NEW.id);
	SELECT RAISE (ABORT, 'no such node') WHERE NOT EXISTS (SELECT 1 FROM node WHERE id = NEW.node_id);
END;
CREATE TRIGGER nomination_update BEFORE UPDATE ON nomination
WHEN NEW.id <> OLD.id OR NEW.uid <> OLD.uid OR NEW.node_id <> OLD.node_id OR NEW.request <> OLD.request
BEGIN
	SELECT RAISE (ABORT, 'what a nomination is stays');
END;
CREATE TRIGGER nomination_deleted AFTER DELETE ON nomination BEGIN
	DELETE FROM promised WHERE device_id IN (SELECT id FROM device WHERE node_id = OLD.node_id) AND nomination_id = OLD.id;
	DELETE FROM victim WHERE nomination_id = OLD.id;
END;
CREATE TRIGGER promised_insert BEFORE INSERT ON promised BEGIN
	SELECT RAISE (ABORT, 'the share is promised already') WHERE EXISTS (SELECT 1 FROM promised WHERE device_id = NEW.device_id
		AND nomination_id = NEW.nomination_id AND claim = NEW.claim AND resource = NEW.resource);
	SELECT RAISE (ABORT, 'no such nomination') WHERE NOT EXISTS (SELECT 1 FROM nomination WHERE id = NEW.nomination_id);
	SELECT RAISE (ABORT, 'the device is not on the node of the nomination') WHERE (SELECT node_id FROM device WHERE id = NEW.device_id)
		IS NOT (SELECT node_id FROM nomination WHERE id = NEW.nomination_id);
	SELECT RAISE (ABORT, 'a share begins with its own row, of amount 1')
		WHERE (NEW.resource = '' AND NEW.amount <> 1) OR (NEW.resource <> '' AND NOT EXISTS (SELECT 1 FROM promised
			WHERE device_id = NEW.device_id AND nomination_id = NEW.nomination_id AND claim = NEW.claim AND resource = ''
			AND whole = NEW.whole AND place = NEW.place));
END;
CREATE TRIGGER promised_update BEFORE UPDATE ON promised BEGIN
	SELECT RAISE (ABORT, 'what is promised stays until the nomination ends');
END;
CREATE TRIGGER promised_delete BEFORE DELETE ON promised WHEN EXISTS (SELECT 1 FROM nomination WHERE id = OLD.nomination_id) BEGIN
	SELECT RAISE (ABORT, 'what is promised stays until the nomination ends: delete it');
END;
CREATE TRIGGER victim_insert BEFORE INSERT ON victim WHEN NOT EXISTS (SELECT 1 FROM nomination WHERE id = NEW.nomination_id) BEGIN
	SELECT RAISE (ABORT, 'no such nomination');
END;
CREATE TRIGGER victim_update BEFORE UPDATE ON victim BEGIN
	SELECT RAISE (ABORT, 'the victims of a nomination stay');
END;
CREATE TRIGGER lock_insert BEFORE INSERT ON lock BEGIN
	SELECT RAISE (ABORT, 'the node is locked') WHERE EXISTS (SELECT 1 FROM lock WHERE node_id = NEW.node_id);
	SELECT RAISE (ABORT, 'the token was used before') WHERE EXISTS (SELECT 1 FROM lock WHERE token = NEW.token);
	SELECT RAISE (ABORT, 'no such node') WHERE NOT EXISTS (SELECT 1 FROM node WHERE id = NEW.node_id);
END;
CREATE TRIGGER lock_update BEFORE UPDATE ON lock BEGIN
	SELECT RAISE (ABORT, 'a lock stays on its node') WHERE NEW.node_id <> OLD.node_id;
	SELECT RAISE (ABORT, 'the token was used before') WHERE NEW.token <> OLD.token AND EXISTS (SELECT 1 FROM lock WHERE token = NEW.token);
	SELECT RAISE (ABORT, 'the holder of the lock is bound') WHERE (NEW.uid <> OLD.uid OR NEW.token <> OLD.token)
		AND EXISTS (SELECT 1 FROM allocation WHERE uid = OLD.uid AND node_id = OLD.node_id AND state = 'bound');
END;
CREATE TRIGGER lock_delete BEFORE DELETE ON lock
WHEN EXISTS (SELECT 1 FROM allocation WHERE uid = OLD.uid AND node_id = OLD.node_id AND state = 'bound')
BEGIN
	SELECT RAISE (ABORT, 'the holder of the lock is bound: delete its allocation');
END;
CREATE TRIGGER lapse_insert BEFORE INSERT ON lapse WHEN NOT EXISTS (SELECT 1 FROM node WHERE id = NEW.node_id) BEGIN
	SELECT RAISE (ABORT, 'no such node');
END;
CREATE TRIGGER lapse_update BEFORE UPDATE ON lapse WHEN NEW.node_id <> OLD.node_id BEGIN
	SELECT RAISE (ABORT, 'a lapse stays on its node');
END;
CREATE TRIGGER event_insert BEFORE INSERT ON event BEGIN
	SELECT RAISE (ABORT, 'history is not rewritten') WHERE EXISTS (SELECT 1 FROM event WHERE id = NEW.id)
		OR NEW.revision <= (SELECT revision FROM meta);
END;
CREATE TRIGGER event_update BEFORE UPDATE ON event BEGIN
	SELECT RAISE (ABORT, 'history is not rewritten');
END;
CREATE TRIGGER event_delete BEFORE DELETE ON event WHEN OLD.revision > (SELECT horizon FROM meta) BEGIN
	SELECT RAISE (ABORT, 'events above the horizon stay');
END;
CREATE VIEW v_node AS
SELECT node.name AS node,
	CASE WHEN node.cordoned AND node.unverified THEN 'cordoned,unverified' WHEN node.cordoned THEN 'cordoned'
		WHEN node.unverified THEN 'unverified' ELSE 'ready' END AS status,
	node.reason,
	(SELECT count(*) FROM device WHERE device.node_id = node.id) AS devices,
	coalesce(pods.n, 0) AS allocations,
	coalesce(promises.n, 0) AS nominations,
	lock.uid AS locked_by,
	(SELECT group_concat(key || '=' || value, ' ') FROM node_label WHERE node_label.node_id = node.id) AS labels,
	strftime('%Y-%m-%d %H:%M:%f', nullif(node.last_seen_at, 0) / 1000.0, 'unixepoch') AS last_seen,
	node.revision
FROM node
LEFT JOIN (SELECT node_id, count(*) AS n FROM allocation GROUP BY node_id) AS pods ON pods.node_id = node.id
LEFT JOIN (SELECT node_id, count(*) AS n FROM nomination GROUP BY node_id) AS promises ON promises.node_id = node.id
LEFT JOIN lock ON lock.node_id = node.id;
CREATE VIEW v_device AS
SELECT node.name AS node, device.type, device.minor, device.uuid, device.model,
	CASE WHEN device.missing THEN 'missing' WHEN NOT device.healthy THEN 'unhealthy' WHEN device.cordoned THEN 'cordoned'
		ELSE 'ready' END AS status,
	capacity.resource,
	capacity.amount AS capacity,
	coalesce((SELECT sum(amount) FROM usage WHERE device_id = device.id AND resource = capacity.resource), 0) AS used,
	CASE WHEN EXISTS (SELECT 1 FROM usage WHERE device_id = device.id AND whole) THEN 0 ELSE capacity.amount
		- coalesce((SELECT sum(amount) FROM usage WHERE device_id = device.id AND resource = capacity.resource), 0) END AS free,
	coalesce((SELECT sum(amount) FROM promised WHERE device_id = device.id AND resource = capacity.resource), 0) AS promised,
	(SELECT count(*) FROM usage WHERE device_id = device.id AND resource = '') AS shares,
	(SELECT amount FROM capacity WHERE device_id = device.id AND resource = '') AS max_shares,
	EXISTS (SELECT 1 FROM usage WHERE device_id = device.id AND whole) AS whole,
	(SELECT group_concat(uid, ' ') FROM allocation WHERE id IN (SELECT allocation_id FROM usage WHERE device_id = device.id)) AS held_by,
	device.reason
FROM device
JOIN node ON node.id = device.node_id
LEFT JOIN capacity ON capacity.device_id = device.id AND capacity.resource <> '';
CREATE VIEW v_pod AS
SELECT allocation.uid, allocation.namespace, allocation.name, allocation.state, node.name AS node,
	(SELECT group_concat(device.type || '-' || device.minor || CASE WHEN usage.whole THEN '' ELSE '(' || coalesce(
			(SELECT group_concat(part.resource || ' ' || part.amount, ', ') FROM usage AS part WHERE part.device_id = device.id
				AND part.allocation_id = allocation.id AND part.claim = usage.claim AND part.resource <> ''), '') || ')' END, ' ')
		FROM device JOIN usage ON usage.device_id = device.id AND usage.allocation_id = allocation.id AND usage.resource = ''
		WHERE device.node_id = allocation.node_id) AS devices,
	allocation.priority, nullif(allocation.gang, '') AS gang,
	strftime('%Y-%m-%d %H:%M:%f', allocation.created_at / 1000.0, 'unixepoch') AS created,
	strftime('%Y-%m-%d %H:%M:%f', allocation.state_at / 1000.0, 'unixepoch') AS since,
	strftime('%Y-%m-%d %H:%M:%f', nullif(allocation.expires_at, 0) / 1000.0, 'unixepoch') AS expires,
	nullif(allocation.token, 0) AS token, allocation.over, allocation.revision
FROM allocation
JOIN node ON node.id = allocation.node_id;
CREATE VIEW v_lock AS
SELECT node.name AS node, lock.uid, lock.token,
	strftime('%Y-%m-%d %H:%M:%f', lock.acquired_at / 1000.0, 'unixepoch') AS acquired,
	strftime('%Y-%m-%d %H:%M:%f', lock.expires_at / 1000.0, 'unixepoch') AS expires
FROM lock
JOIN node ON node.id = lock.node_id;
CREATE VIEW v_nomination AS
SELECT nomination.uid, nomination.namespace, nomination.name, node.name AS node, nomination.priority, nullif(nomination.gang, '') AS gang,
	(SELECT group_concat(device.type || '-' || device.minor, ' ')
		FROM device JOIN promised ON promised.device_id = device.id AND promised.nomination_id = nomination.id AND promised.resource = ''
		WHERE device.node_id = nomination.node_id) AS devices,
	(SELECT group_concat(uid, ' ') FROM victim WHERE nomination_id = nomination.id) AS victims,
	strftime('%Y-%m-%d %H:%M:%f', nomination.expires_at / 1000.0, 'unixepoch') AS expires,
	nomination.revision
FROM nomination
JOIN node ON node.id = nomination.node_id;
CREATE VIEW v_pending AS
SELECT refusal.uid, refusal.namespace, refusal.name, refusal.priority, refusal.reason,
	replace(refusal.counts, char(10), ', ') AS counts,
	refusal.message,
	refusal.count AS refusals,
	strftime('%Y-%m-%d %H:%M:%f', refusal.first_at / 1000.0, 'unixepoch') AS since,
	strftime('%Y-%m-%d %H:%M:%f', refusal.last_at / 1000.0, 'unixepoch') AS last,
	(SELECT node.name FROM nomination JOIN node ON node.id = nomination.node_id WHERE nomination.uid = refusal.uid) AS nominated_to
FROM refusal;
CREATE VIEW v_event AS
SELECT revision, n, strftime('%Y-%m-%d %H:%M:%f', at / 1000.0, 'unixepoch') AS time, kind, nullif(node, '') AS node, nullif(uid, '') AS uid, actor, data
FROM event;
COMMIT;
