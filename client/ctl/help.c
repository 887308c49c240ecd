/* The usage texts; see help.h. */
#include "ctl/help.h"

#include <stdlib.h>
#include <string.h>

#include "ctl/human.h"
#include "ctl/mem.h"
#include "ctl/schema.h"
#include "ctl/table.h"

enum { DEPTH = 2 }; /* members of members are shown, no deeper */

static void heading(struct ctl *ctl, const char *text)
{
	putc('\n', ctl->out);
	style_begin(ctl->out, ctl->colour, STYLE_BOLD);
	fputs(text, ctl->out);
	style_end(ctl->out, ctl->colour, STYLE_BOLD);
	putc('\n', ctl->out);
}

void help_overview(struct ctl *ctl, const json_t *doc)
{
	const struct command *command;
	const json_t *method;
	size_t i;

	fputs("allotctl shows and changes what allotd records: who holds which device of a GPU cluster.\n\n"
	      "Usage: allotctl [OPTION]... COMMAND\n"
	      "       allotctl [OPTION]... METHOD [KEY=VALUE | KEY:=JSON]...\n",
		ctl->out);
	heading(ctl, "Commands");
	for (command = commands; command->name; command++) {
		fprintf(ctl->out, "  %-18s %s\n", command->name, command->summary);
	}
	heading(ctl, "Methods");
	json_array_foreach (json_object_get(doc, "methods"), i, method) {
		fprintf(ctl->out, "  %-18s %s\n", get_string(method, "name"), get_string(method, "summary"));
	}
	heading(ctl, "Options");
	options_print(ctl->out, OPT_GENERAL);
	fputs("\n`allotctl help COMMAND` and `allotctl help METHOD` say more.\n"
	      "Exit status: 0 done, 1 refused by the server, 2 usage, 3 the server cannot be reached,\n"
	      "4 a file or the output cannot be written.\n",
		ctl->out);
}

void help_command(struct ctl *ctl, const struct command *command)
{
	fprintf(ctl->out, "Usage: allotctl [OPTION]... %s%s%s\n\n%s\n", command->name, *command->arguments ? " " : "",
		command->arguments, command->summary);
	if (command->description) {
		fprintf(ctl->out, "\n%s\n", command->description);
	}
	heading(ctl, "Options");
	options_print(ctl->out, command->options | OPT_GENERAL);
}

static void row(struct table *table, const json_t *doc, const char *name, const json_t *described, const json_t *schema,
	const char *otherwise)
{
	char *type = schema_text(doc, schema);

	table_row(table);
	table_cell(table, "%s", name);
	table_cell(table, "%s", type);
	table_cell(table, "%s", otherwise);
	table_cell(table, "%s", schema_doc(doc, described));
	free(type);
}

static void param_row(
	struct table *table, const json_t *doc, const char *name, const json_t *described, const json_t *schema, bool required)
{
	const json_t *fallback = json_object_get(schema_resolve(doc, schema), "default");
	char *otherwise = fallback ? mem_must(json_dumps(fallback, JSON_ENCODE_ANY | JSON_COMPACT)) : mem_string("");

	row(table, doc, name, described, schema, required ? "required" : otherwise);
	free(otherwise);
}

/* The members of an object, or of an array's elements, below `prefix`: of parameters, or of a result. */
static void rows_below(struct table *table, const json_t *doc, const char *prefix, const json_t *schema, bool params, int depth)
{
	const json_t *items = schema_member(doc, schema, NULL), *member;
	const json_t *names = schema_properties(doc, items ? items : schema);
	const char *key;

	if (depth == DEPTH) {
		return;
	}
	json_object_foreach ((json_t *)names, key, member) {
		char *name = mem_format("%s%s%s%s", prefix, *prefix ? "." : "", items ? "N." : "", key);
		bool required = schema_requires(doc, items ? items : schema, key);

		if (params) {
			param_row(table, doc, name, member, member, required);
		} else {
			row(table, doc, name, member, member, required ? "" : "may be absent");
		}
		rows_below(table, doc, name, member, params, depth + 1);
		free(name);
	}
}

static struct table *begin(const char *first, const char *third)
{
	struct table *table = table_new();

	table_column(table, first, TABLE_LEFT);
	table_column(table, "TYPE", TABLE_LEFT);
	table_column(table, third, TABLE_OPTIONAL | TABLE_BLANK);
	table_column(table, "MEANING", TABLE_OPTIONAL);
	return table;
}

static void print(struct ctl *ctl, struct table *table_take, const char *title)
{
	if (table_rows(table_take)) {
		heading(ctl, title);
		table_print(table_take, ctl->out, ctl->colour);
	}
	table_free(table_take);
}

/* How a parameter of that schema is written after its name. */
static const char *form_of(const json_t *doc, const json_t *schema)
{
	const json_t *items = schema_member(doc, schema, NULL);

	if (schema_allows(doc, schema, "string") || schema_allows(doc, schema, "integer") ||
		schema_allows(doc, schema, "boolean")) {
		return "=VALUE";
	}
	if (schema_allows(doc, schema, "object")) {
		return ".NAME=VALUE";
	}
	return items && schema_allows(doc, items, "string") ? "=A,B" : ":=JSON";
}

static void print_usage(struct ctl *ctl, const json_t *doc, const json_t *method)
{
	const json_t *param;
	size_t i;

	fprintf(ctl->out, "Usage: allotctl %s", get_string(method, "name"));
	json_array_foreach (json_object_get(method, "params"), i, param) {
		const json_t *known = schema_resolve(doc, param);
		bool required = get_bool(known, "required");

		fprintf(ctl->out, required ? " %s%s" : " [%s%s]", get_string(known, "name"),
			form_of(doc, json_object_get(known, "schema")));
	}
	putc('\n', ctl->out);
}

static void print_errors(struct ctl *ctl, const json_t *doc, const json_t *method)
{
	const json_t *error;
	size_t i;

	if (!json_array_size(json_object_get(method, "errors"))) {
		return;
	}
	heading(ctl, "Errors");
	json_array_foreach (json_object_get(method, "errors"), i, error) {
		const json_t *known = schema_resolve(doc, error);

		fprintf(ctl->out, "  %" JSON_INTEGER_FORMAT "  %-16s %s\n", json_integer_value(json_object_get(known, "code")),
			get_string(json_object_get(known, "data"), "reason"), get_string(known, "message"));
	}
}

static void print_roles(struct ctl *ctl, const json_t *method)
{
	char *roles = join_strings(json_object_get(method, "x-roles"), ", ", 16);

	if (*roles) {
		fprintf(ctl->out, "Roles: %s\n", roles);
	}
	free(roles);
}

void help_method(struct ctl *ctl, const json_t *doc, const json_t *method)
{
	struct table *params = begin("PARAMETER", "DEFAULT"), *result = begin("RESULT", "");
	const json_t *param, *returned = json_object_get(json_object_get(method, "result"), "schema");
	const char *description = get_string(method, "description");
	size_t i;

	fprintf(ctl->out, "%s: %s\n\n", get_string(method, "name"), get_string(method, "summary"));
	if (*description) {
		fprintf(ctl->out, "%s\n\n", description);
	}
	print_usage(ctl, doc, method);
	print_roles(ctl, method);
	json_array_foreach (json_object_get(method, "params"), i, param) {
		param = schema_resolve(doc, param);
		param_row(params, doc, get_string(param, "name"), param, json_object_get(param, "schema"),
			get_bool(param, "required"));
		rows_below(params, doc, get_string(param, "name"), json_object_get(param, "schema"), true, 0);
	}
	print(ctl, params, "Parameters");
	rows_below(result, doc, "", returned, false, 0);
	print(ctl, result, "Result");
	print_errors(ctl, doc, method);
}
