/* The OpenRPC document says what the tables say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "fake.h"
#include "rpc/openrpc.h"

enum shape_kind { KIND_ROUND, KIND_SQUARE };

static const struct rpc_name kinds[] = { { "round", KIND_ROUND }, { "square", KIND_SQUARE }, { NULL, 0 } };

struct part {
	const char *name;
	int64_t count;
	enum shape_kind kind;
	struct rpc_portions needs;
};

static const struct rpc_field part_fields[] = {
	REQUIRED(struct part, name, "Its name."),
	OPTIONAL(struct part, count, "How many.", RANGE(1, 64), DEFAULT(1)),
	OPTIONAL(struct part, kind, "Its kind.", NAMES(kinds), DEFAULT(KIND_SQUARE)),
	OPTIONAL(struct part, needs, "What it takes.", ITEMS(1, 16)),
};
static const struct rpc_shape part_shape = { SHAPE_OF(struct part, part_fields), .name = "Part", .doc = "A part." };

struct build_params {
	struct rpc_list parts;
	const char *note;
	int64_t if_revision;
	bool quick;
	struct part first;
};

static const struct rpc_field build_fields[] = {
	OPTIONAL(struct build_params, note, "A note.", TEXT(1024), DEFAULT_TEXT("")),
	REQUIRED(struct build_params, parts, "The parts.", SHAPE(&part_shape), ITEMS(1, 16)),
	OPTIONAL(struct build_params, if_revision, "Only at this revision.", RANGE(0, RPC_INTEGER_MAX), DEFAULT(-1)),
	OPTIONAL(struct build_params, quick, "Hurry.", DEFAULT(true)),
	OPTIONAL(struct build_params, first, "The first.", SHAPE(&part_shape)),
};
static const struct rpc_shape build_shape = { SHAPE_OF(struct build_params, build_fields) };

static const struct rpc_member thing_members[] = {
	{ "name", "string", "Its name." },
	{ "state", "\"new\"|\"old\"", "Its state." },
	{ "parts", "[Part]?", "Its parts." },
	{ 0 },
};
static const struct rpc_type thing = { .name = "Thing", .doc = "What was built.", .members = thing_members };

static const struct rpc_member build_result[] = {
	{ "thing", "Thing", "The thing." },
	{ "others", "{[Thing]}?", "Others by name." },
	{ "pod", "string|null", "A pod or none." },
	{ 0 },
};

static struct rpc_done build(struct rpc_call *call, const void *params, void *world)
{
	(void)params;
	(void)world;
	return rpc_done(call);
}

static const struct rpc_method thing_build = { .name = "thing.build",
	.summary = "Builds a thing.",
	.description = "Slowly.",
	.roles = ROLE_SCHEDULER | ROLE_PLUGIN,
	.writes = true,
	.params = &build_shape,
	.result = build_result,
	.errors = RPC_ERROR(ERR_CONFLICT),
	.handle = build };

static const struct rpc_method *const methods[] = { &thing_build, &rpc_discover };
static const struct rpc_type *const types[] = { &thing };

static json_t *document(char **text)
{
	struct rpc_server *server = rpc_server_new(methods, 2, types, 1, "9.8");
	struct text out = { 0 };
	rpc_openrpc(server, &out);
	rpc_server_free(server);
	json_t *json = json_loads(out.bytes, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(json);
	if (text)
		*text = text_take(&out);
	text_free(&out);
	return json;
}

/* Follows a path of keys and indices separated by blanks. */
static json_t *at(json_t *json, const char *path)
{
	char copy[200], *rest = copy, *key;
	snprintf(copy, sizeof copy, "%s", path);
	while ((key = strsep(&rest, " ")))
		json = json_is_array(json) ? json_array_get(json, strtoul(key, NULL, 10)) : json_object_get(json, key);
	return json;
}

static void assert_at(json_t *json, const char *path, const char *expected)
{
	json_t *value = at(json, path);
	char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_PRESERVE_ORDER) : NULL;
	if (!text)
		print_error("nothing at %s\n", path);
	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

static void head_of_the_document(void **state)
{
	json_t *json = document(NULL);
	(void)state;
	assert_at(json, "openrpc", "\"1.3.2\"");
	assert_at(json, "info title", "\"allotd\"");
	assert_at(json, "info version", "\"9.8\"");
	assert_int_equal(json_array_size(at(json, "methods")), 2);
	json_decref(json);
}

static void method_in_full(void **state)
{
	json_t *json = document(NULL);
	(void)state;
	assert_at(json, "methods 0 name", "\"thing.build\"");
	assert_at(json, "methods 0 summary", "\"Builds a thing.\"");
	assert_at(json, "methods 0 description", "\"Slowly.\"");
	assert_at(json, "methods 0 paramStructure", "\"by-name\"");
	assert_at(json, "methods 0 x-roles", "[\"scheduler\",\"plugin\",\"admin\"]");
	assert_at(json, "methods 0 x-writes", "true");
	assert_at(json, "methods 0 x-frees", "false");

	/* the required one comes first */
	assert_at(json, "methods 0 params 0 name", "\"parts\"");
	assert_at(json, "methods 0 params 0 required", "true");
	assert_at(json, "methods 0 params 0 schema",
		"{\"description\":\"The "
		"parts.\",\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/Part\"},\"minItems\":1,\"maxItems\":16}");
	assert_at(json, "methods 0 params 1 schema",
		"{\"description\":\"A note.\",\"type\":\"string\",\"maxLength\":1024,\"default\":\"\"}");
	assert_at(json, "methods 0 params 2 schema",
		"{\"description\":\"Only at this revision.\",\"type\":\"integer\",\"minimum\":0,\"maximum\":9007199254740992}");
	assert_at(json, "methods 0 params 3 schema", "{\"description\":\"Hurry.\",\"type\":\"boolean\",\"default\":true}");
	assert_at(json, "methods 0 params 4 schema", "{\"description\":\"The first.\",\"$ref\":\"#/components/schemas/Part\"}");
	assert_at(json, "methods 1 params", "[]");

	assert_at(json, "methods 0 result schema properties thing",
		"{\"description\":\"The thing.\",\"$ref\":\"#/components/schemas/Thing\"}");
	assert_at(json, "methods 0 result schema properties others",
		"{\"description\":\"Others by "
		"name.\",\"type\":\"object\",\"additionalProperties\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/"
		"schemas/Thing\"}}}");
	assert_at(json, "methods 0 result schema properties pod oneOf", "[{\"type\":\"string\"},{\"type\":\"null\"}]");
	assert_at(json, "methods 0 result schema required", "[\"thing\",\"pod\"]");
	json_decref(json);
}

static void schemas_in_full(void **state)
{
	json_t *json = document(NULL);
	(void)state;
	assert_at(json, "components schemas Part description", "\"A part.\"");
	assert_at(json, "components schemas Part required", "[\"name\"]");
	assert_at(json, "components schemas Part additionalProperties", "false");
	assert_at(json, "components schemas Part properties name",
		"{\"description\":\"Its "
		"name.\",\"type\":\"string\",\"minLength\":1,\"maxLength\":253,\"pattern\":\"^[^\\\\u0000-\\\\u001f\\\\u007f-"
		"\\\\u009f]*$\"}");
	assert_at(json, "components schemas Part properties count",
		"{\"description\":\"How many.\",\"type\":\"integer\",\"minimum\":1,\"maximum\":64,\"default\":1}");
	assert_at(json, "components schemas Part properties kind",
		"{\"description\":\"Its kind.\",\"type\":\"string\",\"enum\":[\"round\",\"square\"],\"default\":\"square\"}");
	assert_at(json, "components schemas Part properties needs additionalProperties oneOf 0 maximum", "1125899906842624");
	assert_at(json, "components schemas Part properties needs minProperties", "1");
	assert_at(json, "components schemas Thing properties state",
		"{\"description\":\"Its state.\",\"type\":\"string\",\"enum\":[\"new\",\"old\"]}");
	assert_at(json, "components schemas Thing required", "[\"name\",\"state\"]");
	json_decref(json);
}

static bool refers_to(json_t *errors, const char *slug)
{
	for (size_t i = 0; i < json_array_size(errors); i++) {
		const char *ref = json_string_value(json_object_get(json_array_get(errors, i), "$ref"));
		if (ref && strcmp(strrchr(ref, '/') + 1, slug) == 0)
			return true;
	}
	return false;
}

static void errors_in_full(void **state)
{
	json_t *json = document(NULL);
	(void)state;
	assert_true(refers_to(at(json, "methods 0 errors"), "conflict"));
	assert_true(refers_to(at(json, "methods 0 errors"), "read_only"));
	assert_true(refers_to(at(json, "methods 0 errors"), "invalid_params"));
	assert_false(refers_to(at(json, "methods 0 errors"), "locked"));
	assert_false(refers_to(at(json, "methods 1 errors"), "read_only"));
	assert_int_equal(json_object_size(at(json, "components errors")), ERR_CODES);
	assert_at(json, "components errors conflict code", "-32003");
	assert_at(json, "components errors conflict data", "{\"reason\":\"conflict\"}");
	json_decref(json);
}

/* Every reference leads somewhere. */
static void check_references(json_t *document_root, json_t *json)
{
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach (json, key, value) {
		if (strcmp(key, "$ref") == 0) {
			char path[200];
			snprintf(path, sizeof path, "%s", json_string_value(value) + 2);
			for (char *p = path; *p; p++)
				if (*p == '/')
					*p = ' ';
			assert_non_null(at(document_root, path));
		}
		check_references(document_root, value);
	}
	json_array_foreach (json, i, value)
		check_references(document_root, value);
}

static void references_lead_somewhere(void **state)
{
	json_t *json = document(NULL);
	(void)state;
	check_references(json, json);
	json_decref(json);
}

static void same_bytes_every_time(void **state)
{
	char *first, *second;
	(void)state;
	json_decref(document(&first));
	json_decref(document(&second));
	assert_string_equal(first, second);
	assert_int_equal(strncmp(first, "{\n  \"openrpc\": \"1.3.2\",\n", 24), 0);
	assert_string_equal(first + strlen(first) - 3, "\n}\n");
	free(first);
	free(second);
}

static void discover_answers_the_document(void **state)
{
	struct rpc_server *server = fake_server();
	struct fake_world world = { 0 };
	static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\",\"params\":{}}";
	char *answer = fake_answer(server, text, sizeof text - 1, &world);
	struct text pretty = { 0 };

	(void)state;
	rpc_openrpc(server, &pretty);
	json_t *got = json_loads(answer, 0, NULL), *expected = json_loads(pretty.bytes, 0, NULL);
	assert_true(json_equal(json_object_get(got, "result"), expected));
	json_decref(got);
	json_decref(expected);
	text_free(&pretty);
	free(answer);
	rpc_server_free(server);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(head_of_the_document),
		cmocka_unit_test(method_in_full),
		cmocka_unit_test(schemas_in_full),
		cmocka_unit_test(errors_in_full),
		cmocka_unit_test(references_lead_somewhere),
		cmocka_unit_test(same_bytes_every_time),
		cmocka_unit_test(discover_answers_the_document),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
