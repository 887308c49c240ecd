#include "core/settle.h"

#include <stdlib.h>

#include "base/mem.h"
#include "core/pods.h"

static const char cause[] = "external";

/* A victim of a nomination on this node that holds nothing here, the caller's; NULL when there is none. */
static char *lost_victim(const struct cluster *c, const struct node *n)
{
	for (const struct promise *p = n->promises; p; p = p->next)
		for (size_t i = 0; i < p->record->n_victims; i++) {
			const struct holding *h = cluster_holding(c, p->record->victims[i]);
			if (!h || h->node != n)
				return mem_string(p->record->victims[i]);
		}
	return NULL;
}

void cluster_settle(struct txn *txn)
{
	for (size_t i = 0; i < txn->cluster->n_nodes; i++) {
		struct node *n = txn->cluster->order[i];
		for (char *uid; (uid = lost_victim(txn->cluster, n)); free(uid))
			victim_forget(txn, n, uid);
		promises_recheck(txn, n, cause, NULL);
		missing_sweep(txn, n);
	}
}
