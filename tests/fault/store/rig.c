#include "rig.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/mem.h"
#include "files.h"
#include "support/check.h"
#include "support/directory.h"

enum { SEED = 7 };

long number_from(const char *variable, long otherwise)
{
	const char *value = getenv(variable);
	return value && *value ? strtol(value, NULL, 10) : otherwise;
}

static void play_beginning(struct rig *rig)
{
	struct store *store = NULL;
	struct error *e = story_open(rig->base, &store);
	if (!e)
		e = story_load(rig->story, store, 0, "new");
	if (e)
		check_failed("%s", e->message);
	for (size_t k = 1; k <= rig->begun; k++) {
		char *why = NULL;
		if (story_commit(rig->story, store, k, &why) != STORE_OK)
			check_failed("commit %zu: %s", k, why);
	}
	store_close(store);
}

struct rig *rig_new(size_t chapters, size_t begun)
{
	struct rig *rig = mem_alloc(sizeof *rig);
	rig->disk = disk_install();
	rig->story = story_new((uint64_t)number_from("ALLOT_SEED", SEED), chapters);
	rig->begun = begun;
	rig->base = directory_new();
	rig->live = directory_new();
	rig->left = directory_new();
	play_beginning(rig);
	return rig;
}

void rig_free(struct rig *rig)
{
	if (!rig)
		return;
	disk_watch(rig->disk, NULL, false);
	story_free(rig->story);
	directory_remove(rig->base);
	directory_remove(rig->live);
	directory_remove(rig->left);
	free(rig);
}

void rig_begin(struct rig *rig, bool empty)
{
	disk_watch(rig->disk, NULL, false);
	directory_copy(empty ? NULL : rig->base, rig->live);
}
