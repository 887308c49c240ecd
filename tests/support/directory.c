#include "support/directory.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/check.h"

char *directory_new(void)
{
	const char *parent = getenv("TMPDIR");
	char *path = NULL;
	if (asprintf(&path, "%s/allot-XXXXXX", parent && *parent ? parent : "/tmp") < 0 || !mkdtemp(path))
		check_failed("cannot make a temporary directory");
	return path;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)place;
	if (kind == FTW_DNR)
		(void)chmod(path, 0700);
	(void)remove(path);
	return 0;
}

void directory_remove(char *path)
{
	if (!path)
		return;
	(void)nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(path);
}

char *file_read(const char *path)
{
	FILE *f = fopen(path, "r");
	char *content = NULL;
	size_t room = 0;
	if (!f || getdelim(&content, &room, '\0', f) < 0) {
		free(content);
		content = strdup("");
	}
	if (f)
		(void)fclose(f);
	return content;
}
