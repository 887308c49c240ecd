#include "store/load_shares.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

const char usage_select[] = "SELECT allocation_id, device_id, minor, amount, resource, claim, place, whole FROM usage";

const char promised_select[] = "SELECT nomination_id, device_id, minor, amount, resource, claim, place, whole FROM promised";

static int compare(const void *a_, const void *b_)
{
	const struct share_row *a = a_, *b = b_;
	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return strcmp(a->resource, b->resource);
}

struct error *share_list_read(struct loading *l, struct share_list *list, struct statement *s)
{
	int rc;
	while ((rc = statement_step(s)) == SQLITE_ROW) {
		list->rows = mem_grow(list->rows, list->n_rows, &list->room, sizeof *list->rows);
		list->rows[list->n_rows++] = (struct share_row){
			.owner = statement_column_integer(s, 0),
			.device = statement_column_integer(s, 1),
			.minor = statement_column_integer(s, 2),
			.amount = statement_column_integer(s, 3),
			.resource = intern_string(l->intern, statement_column_text(s, 4)),
			.claim = (uint32_t)statement_column_integer(s, 5),
			.place = (uint32_t)statement_column_integer(s, 6),
			.whole = statement_column_integer(s, 7) != 0,
		};
	}
	if (list->n_rows)
		qsort(list->rows, list->n_rows, sizeof *list->rows, compare);
	return rc == SQLITE_DONE ? NULL : load_failed(l, rc);
}

static void make_room(struct share_list *list, size_t rows)
{
	if (rows <= list->room_shares)
		return;
	list->room_shares = rows;
	list->shares = mem_resize(list->shares, rows, sizeof *list->shares);
	list->amounts = mem_resize(list->amounts, rows, sizeof *list->amounts);
}

struct error *share_list_collect(struct loading *l, struct share_list *list, int64_t owner)
{
	size_t end = list->at, amounts = 0;
	while (end < list->n_rows && list->rows[end].owner == owner)
		end++;
	make_room(list, end - list->at);
	list->n = 0;
	for (; list->at < end; list->at++) {
		const struct share_row *row = &list->rows[list->at];
		if (*row->resource && (list->n == 0 || row->place != list->n - 1))
			return load_damaged(
				"amounts without a share, of id %" PRId64 " on device id %" PRId64, owner, row->device);
		if (*row->resource) {
			list->amounts[amounts++] = (struct amount){ .resource = row->resource, .value = row->amount };
			list->shares[list->n - 1].n_amounts++;
			continue;
		}
		const struct device_record *device = loading_device(l, row->device);
		if (!device || row->place != list->n)
			return load_damaged(
				"a share of id %" PRId64 " on device id %" PRId64 ", which is not there", owner, row->device);
		list->shares[list->n++] = (struct share){ .device_id = device->id,
			.uuid = device->uuid,
			.minor = row->minor,
			.claim = row->claim,
			.whole = row->whole,
			.amounts = list->amounts + amounts };
	}
	return NULL;
}

struct error *share_list_end(const struct share_list *list, const char *table)
{
	if (list->at == list->n_rows)
		return NULL;
	return load_damaged("a row of %s belongs to id %" PRId64 ", which is not there", table, list->rows[list->at].owner);
}

void share_list_free(struct share_list *list)
{
	free(list->rows);
	free(list->shares);
	free(list->amounts);
}
