/* Shares of devices: usage and promised. A share is one row with resource '' and amount 1, and one row for each amount. */
#include "store/apply.h"

#include <string.h>

static bool share_same(const struct share *a, const struct share *b)
{
	if (a->device_id != b->device_id || a->minor != b->minor || a->claim != b->claim || a->whole != b->whole ||
		a->n_amounts != b->n_amounts)
		return false;
	for (size_t i = 0; i < a->n_amounts; i++)
		if (a->amounts[i].value != b->amounts[i].value || strcmp(a->amounts[i].resource, b->amounts[i].resource) != 0)
			return false;
	return true;
}

bool shares_same(const struct share *a, size_t n_a, const struct share *b, size_t n_b)
{
	if (n_a != n_b)
		return false;
	for (size_t i = 0; i < n_a; i++)
		if (!share_same(&a[i], &b[i]))
			return false;
	return true;
}

static int insert(
	struct statement *s, int64_t owner, const struct share *share, size_t place, const char *resource, int64_t amount)
{
	statement_integer(s, ":device", share->device_id);
	statement_integer(s, ":owner", owner);
	statement_integer(s, ":claim", (int64_t)share->claim);
	statement_text(s, ":resource", resource);
	statement_integer(s, ":amount", amount);
	statement_integer(s, ":whole", share->whole);
	statement_integer(s, ":minor", share->minor);
	statement_integer(s, ":place", (int64_t)place);
	return statement_run(s);
}

int apply_shares(struct share_writer *w, int64_t owner, const struct share *shares, size_t n)
{
	int rc = SQLITE_OK;
	for (size_t i = 0; rc == SQLITE_OK && i < n; i++) {
		rc = insert(&w->insert, owner, &shares[i], i, "", 1);
		for (size_t k = 0; rc == SQLITE_OK && k < shares[i].n_amounts; k++)
			rc = insert(&w->insert, owner, &shares[i], i, shares[i].amounts[k].resource, shares[i].amounts[k].value);
	}
	return rc;
}

int remove_shares(struct share_writer *w, int64_t owner, const struct share *shares, size_t n)
{
	int rc = SQLITE_OK;
	for (size_t i = 0; rc == SQLITE_OK && i < n; i++) {
		statement_integer(&w->remove, ":device", shares[i].device_id);
		statement_integer(&w->remove, ":owner", owner);
		rc = statement_run(&w->remove);
	}
	return rc;
}
