#include "support/cluster.h"

#include <string.h>

#include "support/call.h"

static const char *standard_resources(const char *type)
{
	if (strcmp(type, "gpu") == 0)
		return "{'core': 100, 'memory': 80}";
	if (strcmp(type, "rdma") == 0)
		return "{'vf': 30}";
	return strcmp(type, "host") == 0 ? "{'cpu': 64000, 'memory': 262144}" : "{}";
}

json_t *standard_device(const char *node, const char *type, int n, int i)
{
	json_t *device = json_of("{'uuid': '%s-%s-%d', 'type': '%s', 'minor': %d, 'resources': %s}", node, type, i, type, i,
		standard_resources(type));
	if (n > 1) {
		json_t *place = json_of("{'numa': %d, 'pcie': 'pci%d'}", i * 2 / n, i / 2);
		json_object_update(device, place);
		json_decref(place);
	}
	return device;
}

void register_gpus(struct wire *w, const char *node, int n)
{
	json_t *devices = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(devices, standard_device(node, "gpu", n, i));
	json_decref(call_result(w, "node.register", json_pack("{s:s, s:o}", "node", node, "devices", devices)));
}

json_t *whole_gpus(const char *uid, const char *node, int count)
{
	return json_of("{'pod': {'uid': '%s'}, 'node': '%s', 'request': [{'type': 'gpu', 'count': %d}]}", uid, node, count);
}

void run_pod(struct wire *w, const char *uid, const char *node, int count)
{
	json_decref(call_result(w, "pod.reserve", whole_gpus(uid, node, count)));
	json_decref(call_result(w, "pod.bind", json_of("{'uid': '%s', 'node': '%s'}", uid, node)));
	expect(w, "plugin.allocate", json_of("{'node': '%s', 'uid': '%s'}", node, uid), json_of("{'state': 'allocated'}"));
}
