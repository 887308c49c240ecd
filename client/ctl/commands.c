/* The commands for people. */
#include "ctl/backup.h"
#include "ctl/ctl.h"
#include "ctl/replay.h"
#include "ctl/views.h"

const struct command commands[] = {
	{ "nodes", "", "the nodes, and with -o wide how full they are",
		"With --type or --resource only those that have such devices.", OPT_NODE | OPT_TYPE | OPT_RESOURCE, 0, 0,
		nodes_run },
	{ "top", "", "how full each device of each node is, and the total",
		"A cell is used/total; one with a ! belongs to a device that is unhealthy, cordoned or missing.",
		OPT_NODE | OPT_TYPE | OPT_RESOURCE, 0, 0, top_run },
	{ "devices", "", "the devices, what of them is used, and who holds them", NULL, OPT_NODE | OPT_TYPE | OPT_UUID, 0, 0,
		devices_run },
	{ "pods", "", "the pods that hold devices", NULL, OPT_NAMESPACE | OPT_NODE | OPT_STATE, 0, 0, pods_run },
	{ "explain", "POD", "why a pod is pending, and what would help",
		"POD is namespace/name, a uid, or a name in --namespace.", OPT_NAMESPACE, 1, 1, explain_run },
	{ "nominations", "", "the devices promised to pods that wait", NULL, OPT_NODE, 0, 0, nominations_run },
	{ "locks", "", "the node locks", NULL, OPT_NODE, 0, 0, locks_run },
	{ "events", "", "what happened, oldest first; with --follow as it happens", NULL,
		OPT_NAMESPACE | OPT_NODE | OPT_UID | OPT_FOLLOW | OPT_LAST | OPT_AFTER, 0, 0, events_run },
	{ "info", "", "the server's version, revision, counts and alarms", NULL, 0, 0, 0, info_run },
	{ "backup", "FILE", "makes a backup of the running server and fetches it into FILE",
		"The copy is checked by the server, and against its checksum on arrival; then it replaces FILE at once.\n"
		"`allotd restore --from FILE` is the way back; `allotctl backup.create` leaves a backup with the server.",
		0, 1, 1, backup_run },
	{ "replay", "--nodes FILE --pods FILE", "registers a cluster and drives a workload through it",
		"The files have the format of the openb trace; columns are found by the names in the first line.\n"
		"Every pod is reserved where the server puts it, bound and allocated. Meant for an empty server:\n"
		"the nodes are registered in it. Ends with what was placed and refused, speed, latency (with up to\n"
		"64 reserves on their way), allocation per model, and server.check; fails when that finds anything.",
		OPT_NODES | OPT_PODS | OPT_POLICY | OPT_SEED | OPT_CHURN | OPT_CONNECTIONS, 0, 0, replay_run },
	{ 0 },
};
