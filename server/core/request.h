/* What a pod asks for: claims, and the groups in which a node agent hands them out. Immutable and shared by
 * counting references, like the records. */
#ifndef ALLOTD_CORE_REQUEST_H
#define ALLOTD_CORE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

enum {
	REQUEST_CLAIMS = 16, /* claims of one request */
	REQUEST_GROUPS = 16, /* groups never outnumber claims */
	CLAIM_COUNT = 64,    /* devices of one claim */
	CLAIM_UUIDS = 64,
	DEVICE_RESOURCES = 16, /* resources named by one claim or device */
};

/* How much of one resource a claim wants on each of its devices. */
struct need {
	const char *resource;
	int64_t amount;  /* > 0, or 0 when it is a percentage */
	int64_t percent; /* 1-100 of the device's own capacity, or 0 */
};

/* How close together the devices of a claim must lie. */
enum topology { TOPOLOGY_ANY, TOPOLOGY_NUMA, TOPOLOGY_SOCKET, TOPOLOGY_PCIE };

/* A label that a device must have. */
struct selector {
	const char *key;
	const char *value;
};

/* Devices of one type for one container. Strings are the request's. */
struct claim {
	const char *type;
	int64_t count; /* distinct devices, 1-64 */
	const char *container;
	const char *reuse;    /* "" = none; the container whose devices it uses, taking nothing */
	const char *together; /* "" = none; claims with this tag share the value of `same` */
	enum topology same;
	bool agent;               /* a node agent hands it out */
	const struct need *needs; /* sorted by resource; none = whole devices */
	size_t n_needs;
	const char *const *models; /* any of them; none = any model */
	size_t n_models;
	const char *const *uuids; /* only these; none = any */
	size_t n_uuids;
	const char *const *exclude_uuids;
	size_t n_exclude_uuids;
	const struct selector *labels; /* all must equal, sorted by key */
	size_t n_labels;
};

/* The devices of one (container, type), handed out together. */
struct group {
	const char *container;
	const char *type;
	uint32_t claims; /* bit i: claim i belongs to it */
	int64_t devices; /* their number */
};

/* All claims of a pod. Counted; never changed. */
struct request {
	const char *text;           /* the canonical JSON; equal requests have equal texts */
	const struct claim *claims; /* in the order in which the kubelet asks */
	size_t n_claims;
	const struct group *groups; /* in request order; only claims that an agent hands out */
	size_t n_groups;
};

/* Copies the claims deeply and derives the groups. `text` is the canonical JSON text of the request: the core only compares it. */
struct request *request_new(const struct claim *claims, size_t n_claims, const char *text);

/* One more holder; one less, the last of which releases it (NULL is legal). */
const struct request *request_ref(const struct request *r);
void request_unref(const struct request *r);

/* What the field tables cannot say: reuse names a container of the request that holds enough devices of the type and asks for
 * no resources; `together` needs `same`, equal for all claims of the tag. NULL, or ERR_INVALID_PARAMS with `path` (below "request"). */
struct error *request_check(const struct claim *claims, size_t n_claims) __attribute__((warn_unused_result));

/* Whether both have the same canonical text. */
bool request_equal(const struct request *a, const struct request *b);

/* The mask with one bit for each group. */
uint32_t request_all_groups(const struct request *r);

/* "numa", "socket", "pcie"; "" for TOPOLOGY_ANY. */
const char *topology_name(enum topology t);

#endif
