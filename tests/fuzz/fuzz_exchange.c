/* Any bytes, as a text from a peer: whatever they are, the answer is nothing or one JSON text with the right envelope, and what
 * was decoded survives being encoded and decoded again. Built with libFuzzer; with -DFUZZ_MAIN it plays the files named on the
 * command line. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/arena.h"
#include "rpc/exchange.h"
#include "rpc/openrpc.h"

enum colour { COLOUR_NONE, COLOUR_RED, COLOUR_BLUE };

static const struct rpc_name colours[] = { { "red", COLOUR_RED }, { "blue", COLOUR_BLUE }, { NULL, 0 } };

struct item {
	const char *name;
	int64_t count;
	int32_t small;
	bool flag;
	struct rpc_maybe maybe;
	enum colour colour;
	struct rpc_portions needs;
	struct rpc_amounts amounts;
	struct rpc_labels labels;
	struct rpc_strings names;
	struct rpc_json detail;
};

static const struct rpc_field item_fields[] = {
	REQUIRED(struct item, name, "A name."),
	OPTIONAL(struct item, count, "A number.", RANGE(0, 64), DEFAULT(-1)),
	OPTIONAL(struct item, small, "A small number."),
	OPTIONAL(struct item, flag, "A flag.", DEFAULT(true)),
	OPTIONAL(struct item, maybe, "A flag or nothing."),
	OPTIONAL(struct item, colour, "A colour.", NAMES(colours)),
	OPTIONAL(struct item, needs, "Needs.", ITEMS(1, 4)),
	OPTIONAL(struct item, amounts, "Amounts.", ITEMS(0, 4)),
	OPTIONAL(struct item, labels, "Labels.", ITEMS(0, 4)),
	OPTIONAL(struct item, names, "Names.", ITEMS(0, 4)),
	OPTIONAL(struct item, detail, "Anything.", TEXT(256)),
};
static const struct rpc_shape item_shape = { SHAPE_OF(struct item, item_fields), .name = "Item" };

struct play_params {
	struct rpc_list items;
	struct item one;
	const char *text;
};

static const struct rpc_field play_fields[] = {
	OPTIONAL(struct play_params, items, "Items.", SHAPE(&item_shape), ITEMS(0, 8)),
	OPTIONAL(struct play_params, one, "One.", SHAPE(&item_shape)),
	OPTIONAL(struct play_params, text, "A text.", TEXT(64), DEFAULT_TEXT("")),
};
static const struct rpc_shape play_shape = { SHAPE_OF(struct play_params, play_fields) };

static void require(int condition, const char *what)
{
	if (condition)
		return;
	fprintf(stderr, "violated: %s\n", what);
	abort();
}

static struct rpc_done play(struct rpc_call *call, const void *params, void *world)
{
	struct text first = { 0 }, second = { 0 };
	struct json_out o = json_out_start(&first), again = json_out_start(&second);
	void *decoded = NULL;

	(void)world;
	rpc_encode(&play_shape, params, &o, NULL);
	struct error *e = rpc_decode_text(&play_shape, first.bytes, rpc_call_arena(call), &decoded);
	require(!e, "the canonical text decodes");
	rpc_encode(&play_shape, decoded, &again, NULL);
	require(strcmp(first.bytes, second.bytes) == 0, "the canonical text is stable");
	out_raw(rpc_result(call), "played", first.bytes);
	text_free(&first);
	text_free(&second);
	return rpc_done(call);
}

static const struct rpc_method play_method = {
	.name = "play",
	.summary = "Decodes.",
	.roles = ROLE_ALL,
	.params = &play_shape,
	.handle = play,
};

static const struct rpc_method *const methods[] = { &play_method, &rpc_discover };

static void check_response(json_t *response)
{
	json_t *error = json_object_get(response, "error");

	require(json_is_object(response) && json_object_size(response) == 3, "a response has three members");
	require(json_object_get(response, "id") != NULL, "a response has an id");
	require(!error != !json_object_get(response, "result"), "a response is a result or an error");
	require(!error || json_is_string(json_object_get(json_object_get(error, "data"), "reason")), "an error has a reason");
}

static void check_answer(const struct text *answer)
{
	json_t *json = json_loadb(answer->bytes, answer->length, JSON_REJECT_DUPLICATES, NULL);

	require(json != NULL, "an answer is JSON");
	require(!memchr(answer->bytes, '\n', answer->length), "an answer is one line");
	if (json_is_array(json)) {
		require(json_array_size(json) > 0, "no answer is an empty array");
		for (size_t i = 0; i < json_array_size(json); i++)
			check_response(json_array_get(json, i));
	} else {
		check_response(json);
	}
	json_decref(json);
}

static void play_bytes(const struct rpc_server *server, const char *bytes, size_t size)
{
	const struct rpc_peer peer = { .actor = "fuzz", .roles = ROLE_DEBUG };
	struct rpc_exchange *exchange = rpc_exchange_new(server, bytes, size, &peer, 16, NULL);
	struct text answer = { 0 };

	for (size_t i = 0; i < rpc_exchange_count(exchange); i++) {
		struct rpc_call *call = rpc_exchange_call(exchange, i);
		bool first = rpc_call_run(call, NULL);
		require(rpc_call_run(call, NULL) == first, "a call that runs again comes to the same end");
	}
	if (rpc_exchange_answer(exchange, &answer))
		check_answer(&answer);
	text_free(&answer);
	rpc_exchange_free(exchange);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct rpc_server *server; /* made once, kept to the end */

	if (!server)
		server = rpc_server_new(methods, sizeof methods / sizeof methods[0], NULL, 0, "fuzz");
	play_bytes(server, (const char *)data, size);
	return 0;
}

#ifdef FUZZ_MAIN
int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		static char bytes[1 << 20];
		if (!file)
			return 1;
		size_t size = fread(bytes, 1, sizeof bytes, file);
		fclose(file);
		LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
	}
	return 0;
}
#endif
