/* The rule for the default socket path; see paths.h. */
#include "paths.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static char *join(const char *directory, const char *rest)
{
	char *path;

	return asprintf(&path, "%s%s", directory, rest) < 0 ? NULL : path;
}

static const char *home(void)
{
	const char *directory = variable("HOME");
	const struct passwd *user;

	if (directory) {
		return directory;
	}
	user = getpwuid(geteuid());
	return user ? user->pw_dir : NULL;
}

char *allot_default_socket(void)
{
	const char *directory = variable("ALLOTD_SOCKET");

	if (directory) { /* a path has a '/', so that nobody takes it for HOST:PORT */
		return strchr(directory, '/') ? strdup(directory) : join("./", directory);
	}
	directory = variable("XDG_RUNTIME_DIR");
	if (directory) {
		return join(directory, "/allotd/allotd.sock");
	}
	if (geteuid() == 0) {
		return strdup("/run/allotd/allotd.sock");
	}
	directory = home();
	return directory ? join(directory, "/.local/state/allotd/allotd.sock") : NULL;
}
