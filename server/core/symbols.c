/* Names of device types and resources as small numbers, so that the hot loops compare integers. Never forgotten: there are as
 * many as operators invent. */
#include <stdlib.h>

#include "base/mem.h"
#include "core/cluster_private.h"

struct symbol_entry {
	char *name;
	symbol number;
	UT_hash_handle hh;
};

symbol cluster_symbol(const struct cluster *c, const char *name)
{
	struct symbol_entry *found;
	HASH_FIND_STR(c->symbols, name, found);
	return found ? found->number : SYMBOL_NONE;
}

symbol symbol_intern(struct cluster *c, const char *name)
{
	symbol known = cluster_symbol(c, name);
	if (known != SYMBOL_NONE)
		return known;
	struct symbol_entry *e = mem_alloc(sizeof *e);
	e->name = mem_string(name);
	e->number = (symbol)HASH_COUNT(c->symbols) + 1;
	HASH_ADD_KEYPTR(hh, c->symbols, e->name, strlen(e->name), e);
	return e->number;
}

void symbols_free(struct cluster *c)
{
	struct symbol_entry *e, *next;
	HASH_ITER (hh, c->symbols, e, next) {
		HASH_DEL(c->symbols, e);
		free(e->name);
		free(e);
	}
}
