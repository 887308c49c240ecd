/* backup.create, backup.list, backup.read, backup.remove: copies of the database in the server's backup directory. */
#include "base/error.h"
#include "methods/methods.h"
#include "methods/shapes.h"
#include "methods/world.h"

enum { NAME_MAX_BYTES = 100, READ_MAX = 4 << 20 };

/* Files are for other threads than the loop's. */
static struct rpc_done later(struct rpc_call *call, const void *params, void *world)
{
	(void)params;
	(void)world;
	return rpc_later(call);
}

static void print_members(struct json_out *o, const struct world_backup *b)
{
	out_string(o, "name", b->name);
	out_int(o, "bytes", b->bytes);
	out_string_if(o, "sha256", b->sha256);
	out_int(o, "at", b->at);
}

struct create_params {
	const char *name;
};

static const struct rpc_field create_fields[] = {
	OPTIONAL(struct create_params, name, "Letters, digits, '-', '_', '.'; absent: made of time and revision.",
		TEXT(NAME_MAX_BYTES)),
};
static const struct rpc_shape create_shape = { SHAPE_OF(struct create_params, create_fields) };

static void print_created(void *context, const struct world_backup *b)
{
	struct json_out *o = context;
	print_members(o, b);
	out_int(o, "revision", b->revision);
	out_int(o, "epoch", b->epoch);
}

static struct rpc_done create(struct rpc_call *call, const void *params, void *world, void *reader)
{
	const struct create_params *p = params;
	const struct world *w = world;
	struct error *error = w->services->backup(w->server, reader, p->name, print_created, rpc_result(call));
	return error ? rpc_refuse(call, error) : rpc_done(call);
}

static const struct rpc_member create_result[] = {
	{ "name", "string", "Of the file in the backup directory; NAME.sha256 lies beside it." },
	{ "bytes", "integer", "Its size." },
	{ "sha256", "string", "Its checksum, hex." },
	{ "at", "integer", "When it was written, Unix ms." },
	{ "revision", "integer", "The last one it contains." },
	{ "epoch", "integer", "Of that revision." },
	{ 0 },
};

const struct rpc_method backup_create_method = {
	.name = "backup.create",
	.summary =
		"Copies the database into the backup directory while everything goes on, and checks the copy before it answers.",
	.description =
		"The copy shows exactly one revision, is an ordinary SQLite database, and was proved: pages, foreign keys, every "
		"invariant. One backup is made at a time; others wait.",
	.roles = ROLE_ADMIN,
	.slow = true,
	.params = &create_shape,
	.result = create_result,
	.errors = RPC_ERROR(ERR_CONFLICT),
	.handle = later,
	.work = create,
};

static void print_listed(void *context, const struct world_backup *b)
{
	struct json_out *o = context;
	out_object(o, NULL);
	print_members(o, b);
	out_end(o);
}

static struct rpc_done list(struct rpc_call *call, const void *params, void *world, void *reader)
{
	const struct world *w = world;
	struct json_out *o = rpc_result(call);
	(void)params;
	(void)reader;

	out_array(o, "backups");
	struct error *error = w->services->backups(w->server, print_listed, o);
	if (error)
		return rpc_refuse(call, error);
	out_end(o);
	return rpc_done(call);
}

static const struct rpc_member list_result[] = { { "backups", "[Backup]", "By name." }, { 0 } };

const struct rpc_method backup_list_method = {
	.name = "backup.list",
	.summary = "Lists the backups.",
	.roles = ROLE_ADMIN,
	.result = list_result,
	.handle = later,
	.work = list,
};

struct read_params {
	const char *name;
	int64_t offset, limit;
};

static const struct rpc_field read_fields[] = {
	REQUIRED(struct read_params, name, "Of the backup.", TEXT(NAME_MAX_BYTES)),
	OPTIONAL(struct read_params, offset, "Where to begin, bytes.", RANGE(0, RPC_INTEGER_MAX), DEFAULT(0)),
	OPTIONAL(struct read_params, limit, "At most so many bytes.", RANGE(1, READ_MAX), DEFAULT(1 << 20)),
};
static const struct rpc_shape read_shape = { SHAPE_OF(struct read_params, read_fields) };

static struct rpc_done read_part(struct rpc_call *call, const void *params, void *world, void *reader)
{
	const struct read_params *p = params;
	const struct world *w = world;
	struct json_out *o = rpc_result(call);
	struct text bytes = { 0 };
	int64_t size = 0;
	(void)reader;

	struct error *error = w->services->backup_read(w->server, p->name, p->offset, p->limit, &bytes, &size);
	if (error) {
		text_free(&bytes);
		return rpc_refuse(call, error);
	}

	out_base64(o, "data", text_string(&bytes), bytes.length);
	out_int(o, "offset", p->offset);
	out_int(o, "size", size);
	out_bool(o, "eof", p->offset + (int64_t)bytes.length >= size);
	text_free(&bytes);
	return rpc_done(call);
}

static const struct rpc_member read_result[] = {
	{ "data", "string", "Base64 (RFC 4648)." },
	{ "offset", "integer", "Where it begins." },
	{ "size", "integer", "Of the whole backup, bytes." },
	{ "eof", "boolean", "Nothing comes after it." },
	{ 0 },
};

const struct rpc_method backup_read_method = {
	.name = "backup.read",
	.summary = "Reads a part of a backup.",
	.roles = ROLE_ADMIN,
	.params = &read_shape,
	.result = read_result,
	.errors = RPC_ERROR(ERR_NOT_FOUND),
	.handle = later,
	.work = read_part,
};

static const struct rpc_field remove_fields[] = {
	REQUIRED(struct create_params, name, "Of the backup.", TEXT(NAME_MAX_BYTES)),
};
static const struct rpc_shape remove_shape = { SHAPE_OF(struct create_params, remove_fields) };

static struct rpc_done remove_one(struct rpc_call *call, const void *params, void *world, void *reader)
{
	const struct create_params *p = params;
	const struct world *w = world;
	(void)reader;

	struct error *error = w->services->backup_remove(w->server, p->name);
	if (error)
		return rpc_refuse(call, error);

	out_bool(rpc_result(call), "removed", true);
	return rpc_done(call);
}

static const struct rpc_member remove_result[] = { { "removed", "boolean", "Always true." }, { 0 } };

const struct rpc_method backup_remove_method = {
	.name = "backup.remove",
	.summary = "Removes a backup.",
	.roles = ROLE_ADMIN,
	.params = &remove_shape,
	.result = remove_result,
	.errors = RPC_ERROR(ERR_NOT_FOUND),
	.handle = later,
	.work = remove_one,
};
