/* The parameters of a call from words of the command line. */
#ifndef ALLOTCTL_PARAMS_H
#define ALLOTCTL_PARAMS_H

#include <jansson.h>

/* Builds the params object of `method` (of the OpenRPC document `doc`) from n words:
 *
 *   key=value   a value of the type that the parameter's schema asks for; a list of strings is written a,b,c
 *   key:=json   any JSON
 *
 * Dots in a key lead into objects (pod.uid=x) and, by number, into arrays (request.0.type=gpu).
 * On failure NULL, and *error is a sentence (free()). */
json_t *params_build(const json_t *doc, const json_t *method, char **words, int n, char **error);

#endif
