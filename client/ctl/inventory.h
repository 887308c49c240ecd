/* What the devices of the cluster hold, summed up by node, type and resource: for `top` and `nodes -o wide`. */
#ifndef ALLOTCTL_INVENTORY_H
#define ALLOTCTL_INVENTORY_H

#include <stddef.h>
#include <stdint.h>

#include "ctl/ctl.h"

/* How much of one kind of device is there and in use. */
struct usage {
	int64_t used;
	int64_t total;
};

/* A resource of a type of device. Devices without resources are counted themselves: resource "" and 1 of 1 when held. */
struct kind {
	const char *type;
	const char *resource;
};

/* The devices of the cluster, and the kinds among them. */
struct inventory {
	json_t *devices;    /* as device.list gave them: by node, type, minor */
	struct kind *kinds; /* by type, then resource, in order of appearance */
	size_t n_kinds;
	size_t room_kinds;
	struct node_devices {
		const char *node;
		size_t first; /* index into `devices` */
		size_t n;
	} * nodes;
	size_t n_nodes;
	size_t room_nodes;
};

/* Reads the devices that the command line's --node, --type and --resource ask for. Ended with inventory_free. */
int inventory_read(struct ctl *ctl, struct inventory **ret);
void inventory_free(struct inventory *inventory);

/* Sums up one kind on a node; NULL: on all nodes. */
struct usage inventory_sum(const struct inventory *inventory, const struct kind *kind, const char *node);

/* The usage of one device; a total of 0 when it is of another kind. */
struct usage device_usage(const json_t *device, const struct kind *kind);

/* "GPU MEMORY", "GPU" for devices without resources; new memory. */
char *inventory_title(const struct kind *kind);

#endif
