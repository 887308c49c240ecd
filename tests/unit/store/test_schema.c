/* The schema as people meet it in the sqlite3 shell: the views say what they should. (schema/database.sql is held by tests/integration.) */
#include <stdlib.h>

#include "base/mem.h"
#include "sample.h"

static void every_table_is_strict(void **state)
{
	sqlite3 *db = hand_open(*state);
	assert_int_equal(hand_number(db,
				 "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict"
				 " AND name NOT LIKE 'sqlite_%'"),
		0);
	sqlite3_close(db);
}

/* The rows of a query as lines of columns. */
static char *rows_of(sqlite3 *db, const char *sql)
{
	struct text t = { 0 };
	sqlite3_stmt *s = NULL;
	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	while (sqlite3_step(s) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(s); i++) {
			const char *text = (const char *)sqlite3_column_text(s, i);
			text_printf(&t, "%s%s", i ? "|" : "", text ? text : "-");
		}
		text_putc(&t, '\n');
	}
	sqlite3_finalize(s);
	return text_take(&t);
}

static void shows(sqlite3 *db, const char *sql, const char *want)
{
	char *is = rows_of(db, sql);
	assert_string_equal(is, want);
	free(is);
}

static void the_views(void **state)
{
	sqlite3 *db = hand_open(*state);
	hand_may(db, "UPDATE node SET cordoned = 1, reason = 'fan' WHERE name = 'n2'");
	shows(db, "SELECT * FROM v_node ORDER BY node",
		"n1|ready||2|2|0|a1|zone=a|2023-11-14 22:13:20.123|1\n"
		"n2|cordoned|fan|1|1|1|p6|zone=a|2023-11-14 22:13:20.123|1\n");
	shows(db,
		"SELECT node, type, minor, uuid, status, resource, capacity, used, free, promised, shares, max_shares, whole, "
		"held_by FROM v_device"
		" ORDER BY uuid, resource",
		"n1|gpu|0|d1|ready|core|100|60|40|0|1|3|0|a1\n"
		"n1|gpu|0|d1|ready|memory|80|40|40|0|1|3|0|a1\n"
		"n1|gpu|1|d2|ready|core|100|100|0|0|1|-|1|a2\n"
		"n1|gpu|1|d2|ready|memory|80|80|0|0|1|-|1|a2\n"
		"n2|gpu|2|d3|ready|core|100|30|70|50|1|-|0|a3\n"
		"n2|gpu|2|d3|ready|memory|80|0|80|0|1|-|0|a3\n");
	shows(db, "SELECT * FROM v_pod ORDER BY uid",
		"a1|default|a1|bound|n1|gpu-0(core 60, memory 40)|0|-|2023-11-14 22:13:20.000|2023-11-14 22:13:21.500|2023-11-14 "
		"22:18:20.000|1|0|1\n"
		"a2|default|a2|allocated|n1|gpu-1|0|-|2023-11-14 22:13:20.000|2023-11-14 22:13:22.000|-|-|0|1\n"
		"a3|default|a3|reserved|n2|gpu-2(core 30)|0|-|2023-11-14 22:13:20.000|2023-11-14 22:13:22.000|2023-11-14 "
		"22:23:20.000|-|0|1\n");
	shows(db, "SELECT * FROM v_lock ORDER BY node",
		"n1|a1|1|2023-11-14 22:13:21.000|2023-11-14 22:18:20.000\n"
		"n2|p6|2|2023-11-14 22:13:21.000|2023-11-14 22:18:20.000\n");
	shows(db, "SELECT * FROM v_nomination", "n9|default|n9|n2|0|-|gpu-2|a3|2023-11-14 22:23:20.000|1\n");
	shows(db, "SELECT * FROM v_pending",
		"p8|default|p8|0|insufficient|insufficient=2, no_device=1||7|2023-11-14 22:13:20.000|2023-11-14 "
		"22:14:20.000|-\n");
	shows(db, "SELECT * FROM v_event", "1|0|2023-11-14 22:13:20.123|pod.reserved|n1|a1|test|{\"kind\":\"pod.reserved\"}\n");
	sqlite3_close(db);
}

/* A device without resources has a row, a missing one is free for nobody but shows. */
static void a_device_without_resources(void **state)
{
	sqlite3 *db = hand_open(*state);
	hand_may(db,
		"DELETE FROM allocation; DELETE FROM capacity WHERE device_id = 11; UPDATE device SET missing = 1 WHERE id = 11");
	shows(db, "SELECT status, resource, capacity, used, free, shares FROM v_device WHERE uuid = 'd1'", "missing|-|-|0|-|0\n");
	sqlite3_close(db);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_table_is_strict, place_new_open, place_end),
		cmocka_unit_test_setup_teardown(the_views, place_new_sample, place_end),
		cmocka_unit_test_setup_teardown(a_device_without_resources, place_new_sample, place_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
