#include "restore.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "proof.h"
#include "store/backup.h"

static void say(const char *data_dir, const struct store_restored *r)
{
	printf("%s has everything of revision %" PRId64 " of epoch %" PRId64
	       " again but what was only promised (reservations: %" PRId64 ", nominations: %" PRId64 ")\n",
		data_dir, r->from.revision, r->from.epoch, r->reservations, r->nominations);
	printf("it goes on with revision %" PRId64 " of epoch %" PRId64
	       "; a node gives nothing out before its agent has reconciled\n",
		r->now.revision, r->now.epoch);
}

struct error *restore(const char *from, const char *data_dir, bool force)
{
	struct clock clock = clock_start(CLOCK_SYSTEM, 0);
	struct store_restored restored;
	const struct store_restore_options options = {
		.from = from,
		.directory = data_dir,
		.force = force,
		.now = clock_now(&clock),
		.codec = &server_codec,
		.proof = &server_proof,
	};
	struct error *error = store_restore(&options, &restored);
	if (!error)
		say(data_dir, &restored);
	return error;
}
