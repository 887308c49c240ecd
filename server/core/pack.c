#include "core/pack.h"

#include <string.h>

/* Room for `size` bytes, aligned; NULL while measuring. */
static void *pack_room(struct pack *p, size_t size)
{
	size_t rounded = (size + 7) & ~(size_t)7;
	void *at = p->at;
	if (p->at)
		p->at += rounded;
	p->size += rounded;
	return at;
}

const void *pack_bytes(struct pack *p, const void *from, size_t size)
{
	void *to = pack_room(p, size);
	if (!to || !size)
		return from;
	return memcpy(to, from, size);
}

const char *pack_string(struct pack *p, const char *from)
{
	if (!from || !*from)
		return "";
	return pack_bytes(p, from, strlen(from) + 1);
}

const char *const *pack_strings(struct pack *p, const char *const *from, size_t n)
{
	const char **to = pack_room(p, n * sizeof *to);
	for (size_t i = 0; i < n; i++) {
		const char *s = pack_string(p, from[i]);
		if (to)
			to[i] = s;
	}
	return n && to ? (const char *const *)to : from;
}

const struct amount *pack_amounts(struct pack *p, const struct amount *from, size_t n)
{
	struct amount *to = pack_room(p, n * sizeof *to);
	for (size_t i = 0; i < n; i++) {
		const char *resource = pack_string(p, from[i].resource);
		if (to)
			to[i] = (struct amount){ .resource = resource, .value = from[i].value };
	}
	return n && to ? to : from;
}

const struct label *pack_labels(struct pack *p, const struct label *from, size_t n)
{
	struct label *to = pack_room(p, n * sizeof *to);
	for (size_t i = 0; i < n; i++) {
		const char *key = pack_string(p, from[i].key), *value = pack_string(p, from[i].value);
		if (to)
			to[i] = (struct label){ .key = key, .value = value };
	}
	return n && to ? to : from;
}

const struct share *pack_shares(struct pack *p, const struct share *from, size_t n)
{
	struct share *to = pack_room(p, n * sizeof *to);
	for (size_t i = 0; i < n; i++) {
		const char *uuid = pack_string(p, from[i].uuid);
		const struct amount *amounts = pack_amounts(p, from[i].amounts, from[i].n_amounts);
		if (!to)
			continue;
		to[i] = from[i];
		to[i].uuid = uuid;
		to[i].amounts = amounts;
	}
	return n && to ? to : from;
}

void pack_pod(struct pack *p, struct pod *to, const struct pod *from)
{
	*to = *from;
	to->uid = pack_string(p, from->uid);
	to->namespace = pack_string(p, from->namespace);
	to->name = pack_string(p, from->name);
	to->gang = pack_string(p, from->gang);
}
