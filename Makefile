# Builds, tests and installs allotd. GNU make; `make help` lists the targets.
#
# Everything goes to $(BUILD); nothing is written beside the sources except by `format` and `schema`.
# Sources are found by place:
#   server/<module>/*.c      one archive per module; server/*.c is the wiring, server/main.c the program
#   client/*.c               the library, but for allotctl.c; client/ctl/*.c is the rest of allotctl
#   tests/unit/**/test_*.c   one program each; other files of the same directory are linked to each of them
#   tests/property/test_*.c, tests/fault/<module>/test_*.c    the same
#   tests/{integration,scenarios,fault}/{test_*,runner}.c     programs that start the real server
#   tests/bench/*.c, tests/fuzz/fuzz_*.c
# Variables: BUILD, CC (gcc or clang), CFLAGS, SANITIZE (address,undefined / thread), COVERAGE=1, DESTDIR, PREFIX.

ifeq ($(origin CC),default)
CC = gcc
endif
BUILD    ?= build
CFLAGS   ?= -O2 -g
PREFIX   ?= /usr/local
VERSION  := 0.1.0

MAKEFLAGS += --no-builtin-rules --no-print-directory
# As many jobs as processors unless -j says how many; `clean` with other goals is done in order.
ifeq ($(MAKELEVEL)$(filter clean,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif
.SUFFIXES:
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

# ---- flags

PACKAGES := sqlite3 libevent jansson libcrypto
pkg       = $(shell pkg-config $(1))
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Werror
override STANDARD := -std=c11 -D_GNU_SOURCE -pthread
HARDEN   := -fstack-protector-strong -fstack-clash-protection -fPIC
HARDEN_LD := -pie -Wl,-z,relro,-z,now,-z,noexecstack
FORTIFY  := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
# Instrumented code shows the optimizer other things, so that some of its warnings are false there.
ifneq ($(SANITIZE)$(COVERAGE),)
WARNINGS += -Wno-error
endif
ifneq ($(SANITIZE),)
FORTIFY  :=
HARDEN   := -fPIC
INSTRUMENT := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
ifneq ($(COVERAGE),)
FORTIFY  :=
CFLAGS   := -O0 -g
INSTRUMENT += --coverage
endif

ALL_CFLAGS = $(STANDARD) $(WARNINGS) $(HARDEN) $(FORTIFY) $(CFLAGS) $(INSTRUMENT) -DALLOT_VERSION='"$(VERSION)"' \
	$(call pkg,--cflags $(PACKAGES))
LINK      = $(CC) $(CFLAGS) $(INSTRUMENT) -pthread $(LDFLAGS)
SERVER_LIBS = $(call pkg,--libs sqlite3 libevent jansson libcrypto)
CLIENT_LIBS = $(call pkg,--libs jansson)
CTL_LIBS    = $(call pkg,--libs jansson libcrypto)
TEST_LIBS   = $(call pkg,--libs cmocka)

# ---- sources

MODULES      := base core rpc methods engine store transport
SERVER_MAIN  := server/main.c
WIRING       := $(filter-out $(SERVER_MAIN),$(wildcard server/*.c))
CLIENT_MAIN  := $(wildcard client/allotctl.c client/ctl/main.c client/ctl/allotctl.c)
LIB_SOURCES  := $(filter-out $(CLIENT_MAIN),$(wildcard client/*.c))
CTL_SOURCES  := $(filter-out $(CLIENT_MAIN),$(wildcard client/ctl/*.c))
# Where a server and its clients meet by default: both sides must agree.
PATHS_OBJ    := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard client/paths.c))
MIGRATIONS   := $(sort $(wildcard migrations/*.sql))
OPENRPC      := $(wildcard schema/openrpc.json)

obj           = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
module_objs   = $(call obj,$(wildcard server/$(1)/*.c)) $(if $(filter store,$(1)),$(MIGRATION_OBJ))
MIGRATION_OBJ := $(if $(wildcard migrations/embed),$(BUILD)/obj/generated/migrations.o)
OPENRPC_OBJ  := $(if $(wildcard client/embed),$(if $(OPENRPC),$(BUILD)/obj/generated/openrpc.o))

PRESENT      := $(foreach m,$(MODULES),$(if $(wildcard server/$(m)/*.c),$(m)))
ARCHIVES     := $(PRESENT:%=$(BUILD)/lib/%.a)
WIRING_LIB   := $(if $(WIRING),$(BUILD)/lib/wiring.a)
SERVER_ARCHIVES := $(WIRING_LIB) $(ARCHIVES)
CTL_LIB      := $(if $(CTL_SOURCES)$(OPENRPC_OBJ),$(BUILD)/lib/ctl.a)
LIBALLOT     := $(if $(LIB_SOURCES),$(BUILD)/liballot.a)
LIBALLOT_SO  := $(if $(LIB_SOURCES),$(BUILD)/liballot.so)
SUPPORT_LIB  := $(if $(wildcard tests/support/*.c),$(BUILD)/lib/support.a)
group         = -Wl,--start-group $(filter %.a,$(1)) -Wl,--end-group

ALLOTD       := $(if $(wildcard $(SERVER_MAIN)),$(BUILD)/allotd)
ALLOTCTL     := $(if $(CLIENT_MAIN),$(BUILD)/allotctl)

# ---- tests: a unit test links with what its module may use (see tools/check-includes), so a wrong dependency does not link either

USES_base      := base
USES_core      := core base
USES_rpc       := rpc base
USES_transport := transport base
USES_fake      := $(filter-out store,$(PRESENT))
uses            = $(if $(filter test_fake_%,$(notdir $(1))),$(USES_fake),$(or $(USES_$(notdir $(patsubst %/,%,$(dir $(1))))),$(PRESENT)))

tests_in        = $(wildcard tests/$(1)/test_*.c tests/$(1)/*/test_*.c)
# Files beside a test that are not tests themselves help each test of their directory.
helpers         = $(call obj,$(filter-out $(dir $(1))test_%.c,$(wildcard $(dir $(1))*.c)))
program         = $(patsubst tests/%.c,$(BUILD)/tests/%,$(1))

CLIENT_TESTS   := $(wildcard tests/unit/client/test_*.c)
UNIT_TESTS     := $(filter-out $(CLIENT_TESTS),$(call tests_in,unit)) $(call tests_in,property) $(wildcard tests/fault/*/test_*.c)
LIVE_TESTS     := $(wildcard tests/scenarios/runner.c tests/integration/test_*.c tests/fault/test_*.c)
has_main        = $(if $(1),$(shell grep -l '^int main' $(1)))
BENCHES        := $(call has_main,$(wildcard tests/bench/*.c))
BENCH_LIB      := $(if $(filter-out $(BENCHES),$(wildcard tests/bench/*.c)),$(BUILD)/lib/bench.a)
FUZZERS        := $(wildcard tests/fuzz/fuzz_*.c)

UNIT_PROGRAMS   := $(call program,$(UNIT_TESTS))
CLIENT_PROGRAMS := $(call program,$(CLIENT_TESTS))
LIVE_PROGRAMS   := $(call program,$(LIVE_TESTS))
BENCH_PROGRAMS  := $(BENCHES:tests/bench/%.c=$(BUILD)/bench/%)
FUZZ_PROGRAMS   := $(FUZZERS:tests/fuzz/%.c=$(BUILD)/fuzz/%)
TEST_PROGRAMS   := $(UNIT_PROGRAMS) $(CLIENT_PROGRAMS) $(LIVE_PROGRAMS)

# ---- products

.PHONY: all
all: $(ALLOTD) $(ALLOTCTL) $(LIBALLOT) $(LIBALLOT_SO) ## the server, the command line and the client library

$(BUILD)/allotd: $(call obj,$(SERVER_MAIN)) $(SERVER_ARCHIVES)
	@echo "  link    $@"
	@$(LINK) $(HARDEN_LD) -o $@ $(filter %.o,$^) $(call group,$^) $(SERVER_LIBS)

$(BUILD)/allotctl: $(call obj,$(CLIENT_MAIN)) $(CTL_LIB) $(LIBALLOT)
	@echo "  link    $@"
	@$(LINK) $(HARDEN_LD) -o $@ $< $(call group,$^) $(CTL_LIBS)

$(BUILD)/liballot.a: $(call obj,$(LIB_SOURCES))
$(BUILD)/liballot.so: $(call obj,$(LIB_SOURCES))
	@echo "  link    $@"
	@$(LINK) -shared -Wl,-soname,liballot.so.0 -Wl,-z,relro,-z,now -o $@ $^ $(CLIENT_LIBS)

$(BUILD)/lib/wiring.a: $(call obj,$(WIRING)) $(PATHS_OBJ)
$(BUILD)/lib/ctl.a: $(call obj,$(CTL_SOURCES)) $(OPENRPC_OBJ)
$(BUILD)/lib/bench.a: $(call obj,$(filter-out $(BENCHES),$(wildcard tests/bench/*.c)))
$(BUILD)/lib/support.a: $(call obj,$(wildcard tests/support/*.c))
$(foreach m,$(PRESENT),$(eval $(BUILD)/lib/$(m).a: $(call module_objs,$(m))))

$(BUILD)/%.a:
	@mkdir -p $(@D)
	@echo "  archive $@"
	@rm -f $@ && $(AR) rcs $@ $^

# ---- compiling

$(BUILD)/obj/server/%.o: INCLUDES := -Iserver
$(call obj,$(SERVER_MAIN) $(WIRING)): INCLUDES := -Iserver -Iclient
$(BUILD)/obj/client/%.o: INCLUDES := -Iclient
$(BUILD)/obj/tests/%.o: INCLUDES := -Iserver -Iclient -Itests -Wno-unused-parameter
$(BUILD)/obj/generated/%.o: INCLUDES := -Iserver -Iclient

$(BUILD)/obj/generated/%.o: $(BUILD)/generated/%.c
	@mkdir -p $(@D)
	@echo "  compile $<"
	@$(CC) $(ALL_CFLAGS) $(INCLUDES) -MMD -MP -c -o $@ $<

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	@echo "  compile $<"
	@$(CC) $(ALL_CFLAGS) $(INCLUDES) -MMD -MP -c -o $@ $<

$(BUILD)/generated/migrations.c: migrations/embed $(MIGRATIONS)
	@mkdir -p $(@D)
	@echo "  embed   $@"
	@sh migrations/embed $(MIGRATIONS) > $@

$(BUILD)/generated/openrpc.c: client/embed $(OPENRPC)
	@mkdir -p $(@D)
	@echo "  embed   $@"
	@sh client/embed $(OPENRPC) > $@

-include $(shell [ ! -d $(BUILD)/obj ] || find $(BUILD)/obj -name '*.d')

# ---- linking tests

define unit_program
$(call program,$(1)): $(call obj,$(1)) $(call helpers,$(1)) $(SUPPORT_LIB) $(patsubst %,$(BUILD)/lib/%.a,$(filter $(PRESENT),$(call uses,$(1)))) \
		$(if $(findstring $(call uses,$(1)),$(PRESENT)),$(WIRING_LIB))
endef
define client_program
$(call program,$(1)): $(call obj,$(1)) $(call helpers,$(1)) $(CTL_LIB) $(LIBALLOT)
endef
define live_program
$(call program,$(1)): $(call obj,$(1)) $(call helpers,$(1)) $(SUPPORT_LIB) $(LIBALLOT)
endef
define bench_program
$(1:tests/bench/%.c=$(BUILD)/bench/%): $(call obj,$(1)) $(BENCH_LIB) $(SERVER_ARCHIVES) $(LIBALLOT)
endef
$(foreach t,$(UNIT_TESTS),$(eval $(call unit_program,$(t))))
$(foreach t,$(CLIENT_TESTS),$(eval $(call client_program,$(t))))
$(foreach t,$(LIVE_TESTS),$(eval $(call live_program,$(t))))
$(foreach b,$(BENCHES),$(eval $(call bench_program,$(b))))
# Preloaded into the server by tests that let its disk fail.
$(filter $(BUILD)/tests/fault/test_%,$(LIVE_PROGRAMS)): | $(BUILD)/tests/fault/bad_disk.so
$(call obj,tests/fault/preload/bad_disk.c): INSTRUMENT := # the program it is loaded into has the runtime, or none
$(BUILD)/tests/fault/bad_disk.so: $(call obj,tests/fault/preload/bad_disk.c)
	@mkdir -p $(@D)
	@echo "  link    $@"
	@$(CC) $(CFLAGS) -shared -o $@ $< -ldl
# These run the store in their own process, on histories of tests/property.
$(call program,$(wildcard tests/fault/store/test_*.c)): $(call obj,tests/property/history.c) $(ARCHIVES)

$(TEST_PROGRAMS) $(BENCH_PROGRAMS):
	@mkdir -p $(@D)
	@echo "  link    $@"
	@$(LINK) -o $@ $(filter %.o,$^) $(call group,$^) $(TEST_LIBS) $(SERVER_LIBS)

# ---- running tests

# What the tests of the real programs are told.
TEST_ENV = ALLOTD=$(BUILD)/allotd ALLOTCTL=$(BUILD)/allotctl ALLOT_SANITIZE=$(SANITIZE)

.PHONY: test test-unit test-live tests check
tests: all $(TEST_PROGRAMS) ## builds every test without running any
test: tests ## unit, property, integration, scenario and short fault tests; ends with "N passed, N failed"
	@$(TEST_ENV) tools/run-tests $(TEST_PROGRAMS)
check: test
test-unit: $(UNIT_PROGRAMS) $(CLIENT_PROGRAMS) ## only the tests that start no server
	@$(TEST_ENV) tools/run-tests $^
test-live: all $(LIVE_PROGRAMS) ## only the tests that start the real server
	@$(TEST_ENV) tools/run-tests $(LIVE_PROGRAMS)

.PHONY: scenarios
scenarios: all $(call program,$(wildcard tests/scenarios/runner.c)) ## the scenarios alone
	@$(TEST_ENV) tools/run-tests $(filter %/runner,$^)

.PHONY: fault
fault: all $(filter $(BUILD)/tests/fault/%,$(TEST_PROGRAMS)) ## the long fault tests: 200 kills, every place where a disk can fail
	@$(TEST_ENV) ALLOT_KILLS=200 ALLOT_FAULTS=8000 ALLOT_OUTAGES=60 TEST_TIMEOUT=3000 tools/run-tests $(filter $(BUILD)/tests/fault/%,$(TEST_PROGRAMS))

.PHONY: asan tsan valgrind
asan: ## the whole suite with address and undefined behaviour sanitizers
	@$(MAKE) BUILD=$(BUILD)/asan SANITIZE=address,undefined CFLAGS="-O1 -g" test
tsan: ## the tests with threads, with the thread sanitizer
	@$(MAKE) BUILD=$(BUILD)/tsan SANITIZE=thread CFLAGS="-O1 -g" test-threads
.PHONY: test-threads
test-threads: all $(filter $(BUILD)/tests/unit/engine/% $(BUILD)/tests/scenarios/%,$(TEST_PROGRAMS))
	@$(TEST_ENV) tools/run-tests $(filter $(BUILD)/tests/%,$^)

VALGRIND = valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite
VALGRIND_TESTS = $(filter $(BUILD)/tests/unit/%,$(UNIT_PROGRAMS)) $(CLIENT_PROGRAMS)
valgrind: all $(VALGRIND_TESTS) $(call program,$(wildcard tests/scenarios/runner.c)) ## unit tests and some scenarios under valgrind
	@$(TEST_ENV) ALLOT_SANITIZE=valgrind TEST_TIMEOUT=3000 TEST_WRAP="$(VALGRIND)" tools/run-tests $(VALGRIND_TESTS)
	@$(TEST_ENV) ALLOT_SANITIZE=valgrind TEST_TIMEOUT=3000 ALLOTD_WRAP="$(VALGRIND)" ALLOT_SCENARIOS='tests/scenarios/n*.json' \
		tools/run-tests $(filter %/runner,$^)

# ---- fuzzing

FUZZ_SECONDS ?= 20
.PHONY: fuzz fuzz-run
fuzz: ## each fuzzer for FUZZ_SECONDS (20); needs clang
	@$(MAKE) BUILD=$(BUILD)/fuzzing CC=clang SANITIZE=address,undefined,fuzzer-no-link CFLAGS="-O1 -g" fuzz-run
fuzz-run: $(FUZZ_PROGRAMS)
	@for f in $(FUZZ_PROGRAMS); do name=$${f##*/}; mkdir -p $(BUILD)/corpus/$$name; \
		if $$f -max_total_time=$(FUZZ_SECONDS) -timeout=10 -artifact_prefix=$(BUILD)/$$name- $(BUILD)/corpus/$$name \
			$$(ls -d tests/fuzz/corpus/$$name 2>/dev/null) >$(BUILD)/$$name.log 2>&1; \
		then echo "  ok    $$name: $$(tail -n 1 $(BUILD)/$$name.log)"; \
		else echo "  FAIL  $$name"; tail -n 40 $(BUILD)/$$name.log; exit 1; fi; done
$(BUILD)/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(SERVER_ARCHIVES)
	@mkdir -p $(@D)
	@echo "  link    $@"
	@$(CC) $(CFLAGS) -fsanitize=address,undefined,fuzzer -pthread -o $@ $< $(call group,$^) $(SERVER_LIBS)

# ---- measuring

.PHONY: bench coverage
bench: all $(BENCH_PROGRAMS) ## operations/s and latencies, beside bare SQLite on the same disk
	@BUILD=$(BUILD) tests/bench/run
coverage: ## line coverage of server/ and client/ (gcovr)
	@$(MAKE) BUILD=$(BUILD)/coverage COVERAGE=1 test
	@gcovr --root . --object-directory $(BUILD)/coverage/obj --filter 'server/' --filter 'client/' --print-summary \
		--html-details $(BUILD)/coverage/index.html -j 2
	@echo "$(BUILD)/coverage/index.html"

# ---- the code itself

C_FILES = $(shell find server client tests -name '*.[ch]' | sort)
LINT_FLAGS = $(STANDARD) -Iserver -Iclient -Itests -DALLOT_VERSION=\"$(VERSION)\" $(call pkg,--cflags $(PACKAGES))

.PHONY: format lint
format: ## clang-format on every C file
	@clang-format -i $(C_FILES)
lint: lint-format lint-rules lint-tidy lint-cppcheck ## format, include rule, clang-tidy, cppcheck
.PHONY: lint-format lint-rules lint-tidy lint-cppcheck
lint-format:
	@echo "  clang-format"; clang-format --dry-run -Werror $(C_FILES)
lint-rules:
	@echo "  include rule"; tools/check-includes $(C_FILES)
lint-tidy:
	@echo "  clang-tidy"; printf '%s\n' $(filter server/%.c client/%.c,$(C_FILES)) | \
		xargs -P 2 -n 4 sh -c 'clang-tidy --quiet "$$@" -- $(LINT_FLAGS) 2>&1 | tools/tidy-filter' sh
lint-cppcheck:
	@echo "  cppcheck"; cppcheck --quiet --std=c11 '-D__attribute__(x)=' --inline-suppr --error-exitcode=1 -j 2 --enable=warning,performance,portability \
		--suppressions-list=tools/cppcheck-suppressions -Iserver -Iclient -Itests $(filter server/%.c client/%.c,$(C_FILES))

.PHONY: schema
schema: $(ALLOTD) $(BUILD)/tests/unit/methods/test_openrpc $(BUILD)/tests/integration/test_schema ## writes schema/ anew from the code
	@$(TEST_ENV) ALLOT_WRITE_SCHEMA=1 tools/run-tests $(filter %/test_openrpc,$^) && \
	 $(TEST_ENV) ALLOT_WRITE_SCHEMA=1 tools/run-tests $(filter %/test_schema,$^)
	@$(MAKE) --no-print-directory all

# ---- installing and showing

bindir = $(DESTDIR)$(PREFIX)/bin
sbindir = $(DESTDIR)$(PREFIX)/sbin
libdir = $(DESTDIR)$(PREFIX)/lib
.PHONY: install uninstall
install: all ## installs below DESTDIR and PREFIX (/usr/local)
	install -d $(bindir) $(sbindir) $(libdir)/pkgconfig $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/systemd/system
	install -m 755 $(ALLOTD) $(sbindir)/allotd
	install -m 755 $(ALLOTCTL) $(bindir)/allotctl
	install -m 644 $(LIBALLOT) $(libdir)/liballot.a
	install -m 755 $(LIBALLOT_SO) $(libdir)/liballot.so.0
	ln -sf liballot.so.0 $(libdir)/liballot.so
	install -m 644 client/allot.h $(DESTDIR)$(PREFIX)/include/allot.h
	sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@VERSION@|$(VERSION)|g' client/allot.pc.in > $(libdir)/pkgconfig/allot.pc
	sed -e 's|@PREFIX@|$(PREFIX)|g' examples/allotd.service > $(DESTDIR)$(PREFIX)/lib/systemd/system/allotd.service
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 client/allotctl.1
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man8 client/allotd.8
	$(if $(wildcard client/completion.bash),install -D -m 644 client/completion.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/allotctl)
uninstall: ## takes away what install brought
	rm -f $(sbindir)/allotd $(bindir)/allotctl $(libdir)/liballot.* $(libdir)/pkgconfig/allot.pc \
		$(DESTDIR)$(PREFIX)/include/allot.h $(DESTDIR)$(PREFIX)/lib/systemd/system/allotd.service \
		$(DESTDIR)$(PREFIX)/share/man/man1/allotctl.1 $(DESTDIR)$(PREFIX)/share/man/man8/allotd.8 \
		$(DESTDIR)$(PREFIX)/share/bash-completion/completions/allotctl

.PHONY: demo demo-preemption
demo: all ## a small cluster from end to end, in a terminal
	@$(TEST_ENV) examples/demo
demo-preemption: all ## two stories of promises and preemption, step by step
	@$(TEST_ENV) examples/demo-preemption

.PHONY: deps clean help
deps: ## installs what building and testing needs (Debian; as root)
	apt-get install -y --no-install-recommends $$(grep -v '^#' tools/packages)
clean: ## removes $(BUILD)
	rm -rf $(BUILD)
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
