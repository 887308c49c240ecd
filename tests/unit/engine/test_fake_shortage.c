/* While the store is short of space: what grows is refused before it is written, everything else goes on, and it ends by itself. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/error.h"
#include "rig.h"

static void growth_is_refused(void **state)
{
	static const char *const slugs[] = { "disk_low", "quota" };
	struct rig *rig = rig_new((struct rig_options){ 0 });
	(void)state;
	struct test_call *before = rig_do(rig, DO_ACQUIRE, 0);
	rig_settle(rig);
	expect_released(before, -1);
	for (size_t i = 0; i < 2; i++) {
		size_t tried = fake_store_tried(rig->store);
		rig->store->shortage = slugs[i];
		struct test_call *grows = rig_do(rig, DO_ACQUIRE, 1), *reads = rig_do(rig, DO_READ, 0);
		rig_settle(rig);
		expect_released(grows, ERR_READ_ONLY);
		expect_released(reads, -1);
		assert_int_equal(fake_store_tried(rig->store), tried);
		assert_true(engine_status(rig->engine).read_only);
		assert_true(rig_has_alarm(rig, slugs[i]));
	}
	struct test_call *frees = rig_do(rig, DO_RELEASE, 0);
	rig_settle(rig);
	expect_released(frees, -1);
	assert_int_equal(frees->refused, false);

	rig->store->shortage = NULL;
	struct test_call *after = rig_do(rig, DO_ACQUIRE, 1);
	rig_settle(rig);
	expect_released(after, -1);
	assert_false(engine_status(rig->engine).read_only);
	assert_false(rig_has_alarm(rig, "quota"));
	rig_free(rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(growth_is_refused) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
