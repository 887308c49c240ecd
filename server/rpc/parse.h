/* From text to jansson values. Private to rpc/. */
#ifndef ALLOTD_RPC_PARSE_H
#define ALLOTD_RPC_PARSE_H

#include <jansson.h>
#include <stddef.h>

#include "base/error.h"

/* Parses one JSON value that fills the whole text. What is not JSON, not UTF-8, has a NUL, a duplicate key, a number out of
 * range or is nested too deeply is ERR_PARSE with `detail`. */
struct error *rpc_parse(const char *text, size_t length, json_t **ret) __attribute__((warn_unused_result));

/* The length of the longest start of `s` that has at most `most` bytes and does not end within a UTF-8 character. */
size_t rpc_cut(const char *s, size_t most);

#endif
