/* How long a start takes: opening and loading 10,000 nodes with 8 devices each and 80,000 allocations, from a file that is in the page cache.
 *
 *	start [--dir DIR] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "synthetic.h"

enum { NODES = 10000, ALLOCATIONS = 80000 };

static void fill(const char *directory)
{
	struct store *store = synthetic_open(directory, false);
	const struct store_meta meta = store_meta(store);
	struct synthetic *c = synthetic_new(NODES, &meta);
	struct change_list changes = { 0 };
	synthetic_inventory(c, &changes);
	for (size_t i = 0; i < ALLOCATIONS; i++) {
		c->meta.revision++;
		const struct allocation *a = synthetic_allocation(c, i % NODES, i / NODES % SYNTHETIC_DEVICES, POD_ALLOCATED);
		change_list_add(&changes, RECORD_ALLOCATION, NULL, a);
		change_list_add(&changes, RECORD_EVENT, NULL, synthetic_event(c, "pod.reserved", a));
		if (i % 5000 == 4999)
			synthetic_commit(c, store, &changes);
	}
	synthetic_commit(c, store, &changes);
	change_list_free(&changes);
	synthetic_free(c);
	store_close(store);
}

/* Resident memory of this process, MiB. */
static double resident(void)
{
	long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	if (!f || fscanf(f, "%*s %ld", &pages) != 1)
		pages = 0;
	if (f)
		(void)fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

static void measure(const char *directory)
{
	struct change_list list = { 0 };
	struct store_meta meta;
	double start = synthetic_seconds();
	struct store *store = synthetic_open(directory, false);
	double opened = synthetic_seconds();
	struct error *e = store_load(store, &list, &meta);
	if (e)
		synthetic_die("load", e->message);
	double loaded = synthetic_seconds();
	printf("open %.3f s, load %.3f s of %zu records, resident %.0f MiB\n", opened - start, loaded - opened, list.n,
		resident());
	change_list_free(&list);
	store_close(store);
}

int main(int argc, char **argv)
{
	const char *parent = argc == 3 && strcmp(argv[1], "--dir") == 0 ? argv[2] : NULL;
	char *directory = synthetic_directory(parent);
	fill(directory);
	measure(directory);
	measure(directory);
	synthetic_remove(directory);
	return 0;
}
