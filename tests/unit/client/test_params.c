/* key=value words become JSON typed by the schema. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/params.h"
#include "ctl/schema.h"
#include "fake.h"

static const char document[] =
	"{'methods':[{'name':'pod.reserve','params':["
	"{'name':'pod','required':true,'schema':{'$ref':'#/components/schemas/Pod'}},"
	"{'name':'request','required':true,'schema':{'type':'array','items':{'$ref':'#/components/schemas/Claim'}}},"
	"{'name':'nodes','required':false,'schema':{'type':'array','items':{'type':'string'}}},"
	"{'name':'policy','required':false,'schema':{'type':'string','enum':['binpack','spread'],'default':'binpack'}},"
	"{'name':'ttl','required':false,'schema':{'type':'integer','minimum':1,'maximum':86400,'default':600}},"
	"{'name':'replace','required':false,'schema':{'type':'boolean'}},"
	"{'name':'detail','required':false,'schema':{'type':'object'}}]},"
	"{'name':'server.info','params':[]}],"
	"'components':{'schemas':{"
	"'Pod':{'type':'object','additionalProperties':false,'required':['uid'],'properties':{"
	"'uid':{'type':'string'},'name':{'type':'string'},'priority':{'type':'integer'},'preemptible':{'type':'boolean'}}},"
	"'Claim':{'type':'object','additionalProperties':false,'required':['type'],'properties':{"
	"'type':{'type':'string'},'count':{'type':'integer','minimum':1,'maximum':64},'models':{'type':'array','items':{'"
	"type':'string'}},"
	"'resources':{'type':'object','additionalProperties':{'oneOf':[{'type':'integer','minimum':1},{'type':'string','"
	"pattern':'%$'}]}},"
	"'labels':{'type':'object','additionalProperties':{'type':'string'}}}}}}}";

static json_t *doc;

static int setup(void **state)
{
	doc = fake_json(document);
	return 0;
}

static int teardown(void **state)
{
	json_decref(doc);
	return 0;
}

enum { WORDS = 12 };

static json_t *build(const char *method, const char *const *words, char **error)
{
	char *copies[WORDS];
	json_t *params;
	int n = 0, i;

	for (; words[n]; n++) {
		copies[n] = strdup(words[n]);
	}
	params = params_build(doc, schema_method(doc, method), copies, n, error);
	for (i = 0; i < n; i++) {
		free(copies[i]);
	}
	return params;
}

static void gives(const char *method, const char *const *words, const char *expected)
{
	char *error, *text;
	json_t *params = build(method, words, &error), *want = fake_json(expected);

	if (!params) {
		fail_msg("%s", error);
	}
	text = json_dumps(params, 0);
	if (!json_equal(params, want)) {
		fail_msg("want %s, got %s", expected, text);
	}
	free(text);
	json_decref(params);
	json_decref(want);
}

static void fails(const char *method, const char *const *words, const char *sentence)
{
	char *error;
	json_t *params = build(method, words, &error);

	assert_null(params);
	assert_string_equal(error, sentence);
	free(error);
}

#define W(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define NEEDED "pod.uid=a", "request:=[]"

static void values_are_typed(void **state)
{
	gives("server.info", (const char *const[]){ NULL }, "{}");
	gives("pod.reserve", W(NEEDED, "ttl=30", "policy=spread", "replace=true", "pod.priority=-5", "pod.preemptible=false"),
		"{'pod':{'uid':'a','priority':-5,'preemptible':false},'request':[],'ttl':30,'policy':'spread','replace':true}");
	gives("pod.reserve", W("pod.uid=123", "request:=[]", "pod.name=true"),
		"{'pod':{'uid':'123','name':'true'},'request':[]}");
	gives("pod.reserve", W(NEEDED, "nodes=n1,n2"), "{'pod':{'uid':'a'},'request':[],'nodes':['n1','n2']}");
	gives("pod.reserve", W(NEEDED, "nodes="), "{'pod':{'uid':'a'},'request':[],'nodes':[]}");
	gives("pod.reserve", W("pod:={\"uid\":\"x\"}", "request:=[]", "detail:={\"a\":[1]}"),
		"{'pod':{'uid':'x'},'request':[],'detail':{'a':[1]}}");
	gives("pod.reserve", W("pod.uid=a=b", "request:=[]"), "{'pod':{'uid':'a=b'},'request':[]}");
}

static void dots_lead_into_objects_and_arrays(void **state)
{
	gives("pod.reserve",
		W("pod.uid=a", "request.0.type=gpu", "request.0.count=2", "request.0.resources.core=50%",
			"request.0.resources.memory=80", "request.1.type=host", "request.1.models=A,B",
			"request.1.labels.zone=z1"),
		"{'pod':{'uid':'a'},'request':[{'type':'gpu','count':2,'resources':{'core':'50%','memory':80}},"
		"{'type':'host','models':['A','B'],'labels':{'zone':'z1'}}]}");
	gives("pod.reserve", W("pod:={\"uid\":\"x\"}", "pod.priority=3", "request:=[]"),
		"{'pod':{'uid':'x','priority':3},'request':[]}");
}

static void mistakes_are_named(void **state)
{
	fails("pod.reserve", W("nonsense"), "nonsense is neither key=value nor key:=json");
	fails("pod.reserve", W("=x"), "=x is neither key=value nor key:=json");
	fails("pod.reserve", W(":=1"), ":=1 is neither key=value nor key:=json");
	fails("pod.reserve", W("pdo.uid=a"), "pdo.uid: there is no parameter pdo; did you mean pod?");
	fails("pod.reserve", W("pod.prioritty=1"), "pod.prioritty: there is no parameter prioritty; did you mean priority?");
	fails("pod.reserve", W("zzzzz=1"), "zzzzz: there is no parameter zzzzz; see allotctl help pod.reserve");
	fails("pod.reserve", W("ttl=soon"), "ttl is integer 1..86400, not \"soon\"; ttl:=... takes JSON");
	fails("pod.reserve", W("ttl=99999999999999999999"),
		"ttl is integer 1..86400, not \"99999999999999999999\"; ttl:=... takes JSON");
	fails("pod.reserve", W("replace=yes"), "replace is boolean, not \"yes\"; replace:=... takes JSON");
	fails("pod.reserve", W("request=gpu"), "request is [Claim], not \"gpu\"; request:=... takes JSON");
	fails("pod.reserve", W("ttl=1", "ttl=2"), "ttl is given twice");
	fails("pod.reserve", W("pod=a", "pod.uid=b"), "pod is Pod, not \"a\"; pod:=... takes JSON");
	fails("pod.reserve", W("ttl=5", "ttl.x=b"), "ttl.x: x cannot stand here");
	fails("pod.reserve", W("request.1.type=gpu"),
		"request.1.type: 1 cannot stand here (elements are counted from 0, without gaps)");
	fails("pod.reserve", W("request.0.typ=gpu"), "request.0.typ: there is no parameter typ; did you mean type?");
	fails("pod.reserve", W("pod.uid=a"), "pod.reserve needs request; see allotctl help pod.reserve");
	fails("pod.reserve", W("request:=[", "pod.uid=a"), "request is not JSON: ']' expected near end of file");
	fails("server.info", W("x=1"), "x: there is no parameter x; see allotctl help server.info");
}

static void type_is(const char *param, const char *expected)
{
	const json_t *schema = json_object_get(schema_param(doc, schema_method(doc, "pod.reserve"), param), "schema");
	char *text = schema_text(doc, schema);

	assert_string_equal(text, expected);
	free(text);
}

static void types_are_described(void **state)
{
	type_is("pod", "Pod");
	type_is("request", "[Claim]");
	type_is("nodes", "[string]");
	type_is("policy", "binpack|spread");
	type_is("ttl", "integer 1..86400");
	type_is("replace", "boolean");
	assert_null(schema_method(doc, "nothing"));
}

static void references_that_lead_nowhere_are_survived(void **state)
{
	json_t *broken = fake_json("{'a':{'$ref':'#/a'},'b':{'$ref':'#/x/y'},'c':{'$ref':'other.json'}}");

	assert_null(schema_resolve(broken, json_object_get(broken, "a")));
	assert_null(schema_resolve(broken, json_object_get(broken, "b")));
	assert_null(schema_resolve(broken, json_object_get(broken, "c")));
	assert_null(schema_resolve(broken, NULL));
	json_decref(broken);
}

/* The document that is really built in knows the methods of the contract. */
static void built_in_document_is_one(void **state)
{
	json_t *built_in = schema_load();

	assert_true(json_is_array(json_object_get(built_in, "methods")));
	assert_non_null(schema_method(built_in, "pod.reserve"));
	assert_true(schema_allows(built_in,
		json_object_get(schema_param(built_in, schema_method(built_in, "pod.bind"), "uid"), "schema"), "string"));
	json_decref(built_in);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_typed),
		cmocka_unit_test(dots_lead_into_objects_and_arrays),
		cmocka_unit_test(mistakes_are_named),
		cmocka_unit_test(types_are_described),
		cmocka_unit_test(references_that_lead_nowhere_are_survived),
		cmocka_unit_test(built_in_document_is_one),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
