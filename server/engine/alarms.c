#include "engine/alarms.h"

#include <assert.h>
#include <string.h>

static size_t find(const struct alarms *alarms, const char *slug)
{
	size_t i = 0;
	while (i < alarms->n && strcmp(alarms->slugs[i], slug) != 0)
		i++;
	return i;
}

bool alarms_set(struct alarms *alarms, const char *slug, bool raised)
{
	size_t i = find(alarms, slug);
	if ((i < alarms->n) == raised)
		return false;
	if (raised) {
		assert(alarms->n < ALARMS_AT_MOST);
		alarms->slugs[alarms->n++] = slug;
		return true;
	}
	alarms->n--;
	memmove(alarms->slugs + i, alarms->slugs + i + 1, (alarms->n - i) * sizeof *alarms->slugs);
	return true;
}
