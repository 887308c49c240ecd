/* allotctl info: what the server says of itself. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/human.h"
#include "ctl/mem.h"
#include "ctl/table.h"
#include "ctl/views.h"

/* A member as text: times readable, lists joined. */
static char *value_text(const char *key, const json_t *value)
{
	size_t length = strlen(key);

	if (json_is_array(value)) {
		return join_strings(value, ", ", 32);
	}
	if (json_is_string(value)) {
		return mem_string(json_string_value(value));
	}
	if (json_is_integer(value) && (strcmp(key, "now") == 0 || (length > 3 && strcmp(key + length - 3, "_at") == 0))) {
		return mem_string(human_time(json_integer_value(value)).text);
	}
	return mem_must(json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT));
}

static void line(struct ctl *ctl, const char *key, const json_t *value)
{
	char *text = text_clean(value_text(key, value)), *name = text_clean(mem_string(key));
	bool alarm = strcmp(key, "alarms") == 0 && *text;

	fprintf(ctl->out, "%-14s ", name);
	style_begin(ctl->out, ctl->colour, alarm ? STYLE_BAD : STYLE_PLAIN);
	fputs(*text ? text : "none", ctl->out);
	style_end(ctl->out, ctl->colour, alarm ? STYLE_BAD : STYLE_PLAIN);
	putc('\n', ctl->out);
	free(text);
	free(name);
}

int info_run(struct ctl *ctl, char **arguments, int n)
{
	json_t *info, *value, *count;
	const char *key, *name;
	int status = ctl_call(ctl, "server.info", NULL, &info);

	(void)arguments;
	(void)n;
	if (status != CTL_OK || ctl->options.format == FORMAT_JSON) {
		return status == CTL_OK ? ctl_print_json(ctl, info) : status;
	}
	json_object_foreach (info, key, value) {
		if (!json_is_object(value)) {
			line(ctl, key, value);
			continue;
		}
		json_object_foreach (value, name, count) {
			line(ctl, name, count);
		}
	}
	json_decref(info);
	return CTL_OK;
}
