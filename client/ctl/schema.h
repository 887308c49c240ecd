/* The OpenRPC document that is built into allotctl: the server's method tables as JSON. Everything returned is borrowed from
 * the document unless said otherwise. */
#ifndef ALLOTCTL_SCHEMA_H
#define ALLOTCTL_SCHEMA_H

#include <stdbool.h>

#include <jansson.h>

/* The built-in document (a new reference). */
json_t *schema_load(void);

/* A method's description; NULL when there is none of that name. */
const json_t *schema_method(const json_t *doc, const char *name);

/* Follows $ref to where it leads; NULL when it leads nowhere. */
const json_t *schema_resolve(const json_t *doc, const json_t *schema);

/* A method's parameter of that name (with members name, required, schema ...); NULL when it has none. */
const json_t *schema_param(const json_t *doc, const json_t *method, const char *name);

/* Whether a value of that JSON type ("integer", "object" ...) may satisfy the schema. A schema that says nothing allows everything. */
bool schema_allows(const json_t *doc, const json_t *schema, const char *type);

/* The schema of an object's member, or of an array's elements (key NULL); NULL when there can be none. */
const json_t *schema_member(const json_t *doc, const json_t *schema, const char *key);

/* The names an object's members can have: an object whose keys they are; NULL when the schema names none. */
const json_t *schema_properties(const json_t *doc, const json_t *schema);

bool schema_requires(const json_t *doc, const json_t *schema, const char *key);

/* A short description of what is allowed: "integer 1..64", "[Claim]", "binpack|spread"; new memory. */
char *schema_text(const json_t *doc, const json_t *schema);

/* The `description` (or `summary`, or `title`) of a parameter, result or schema, "" when there is none. */
const char *schema_doc(const json_t *doc, const json_t *described);

#endif
