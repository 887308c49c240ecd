/* allotctl backup FILE: a backup made by the server, fetched, checked against its checksum, and put in its place at once. The server's own
 * copy is removed again; for one that stays there is the method backup.create. */
#include "ctl/backup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "ctl/human.h"
#include "ctl/mem.h"
#include "ctl/progress.h"

enum { PART = 1 << 20 };

/* A backup on its way into a file. */
struct fetch {
	struct ctl *ctl;
	const char *name; /* on the server */
	char *temporary;  /* beside the target */
	FILE *out;
	EVP_MD_CTX *digest;
	int64_t size;
};

static int failed(struct ctl *ctl, const char *path, const char *doing)
{
	fprintf(ctl->err, "allotctl: cannot %s %s: %s\n", doing, path, strerror(errno));
	return CTL_LOCAL;
}

/* Decodes base64 into new memory; NULL when it is none. */
static unsigned char *decode(const char *text, size_t length, size_t *n)
{
	unsigned char *bytes = mem_array(length + 1, 1);
	int decoded = length % 4 == 0 ? EVP_DecodeBlock(bytes, (const unsigned char *)text, (int)length) : -1;
	size_t padding = length && text[length - 1] == '=' ? (text[length - 2] == '=' ? 2 : 1) : 0;

	if (decoded < 0 || (size_t)decoded < padding) {
		free(bytes);
		return NULL;
	}
	*n = (size_t)decoded - padding;
	return bytes;
}

/* Takes one part; *n is how many bytes it had. */
static int take(struct fetch *f, const json_t *part, size_t *n)
{
	const json_t *data = json_object_get(part, "data");
	unsigned char *bytes = json_is_string(data) ? decode(json_string_value(data), json_string_length(data), n) : NULL;
	int status = CTL_OK;

	if (!bytes) {
		fprintf(f->ctl->err, "allotctl: the server sent what is no part of a backup\n");
		return CTL_REFUSED;
	}
	if (EVP_DigestUpdate(f->digest, bytes, *n) != 1 || fwrite(bytes, 1, *n, f->out) != *n) {
		status = failed(f->ctl, f->temporary, "write");
	}
	free(bytes);
	return status;
}

static int fetch_parts(struct fetch *f)
{
	struct progress progress = progress_begin(f->ctl, "bytes", (size_t)f->size);
	int64_t offset = 0;
	int status = CTL_OK;

	while (status == CTL_OK && offset < f->size) {
		size_t n = 0;
		json_t *part, *params = mem_must(
				      json_pack("{s:s, s:I, s:i}", "name", f->name, "offset", (json_int_t)offset, "limit", PART));

		status = ctl_call(f->ctl, "backup.read", params, &part);
		if (status != CTL_OK) {
			break;
		}
		status = take(f, part, &n);
		json_decref(part);
		if (status == CTL_OK && n == 0) {
			fprintf(f->ctl->err, "allotctl: the backup ends before its end\n");
			status = CTL_REFUSED;
		}
		offset += (int64_t)n;
		progress_show(&progress, (size_t)offset);
	}
	progress_end(&progress);
	return status;
}

static int check(struct fetch *f, const char *want)
{
	unsigned char sum[EVP_MAX_MD_SIZE];
	char hex[2 * EVP_MAX_MD_SIZE + 1] = "";
	unsigned n = 0, i;

	if (EVP_DigestFinal_ex(f->digest, sum, &n) != 1) {
		return failed(f->ctl, f->temporary, "check");
	}
	for (i = 0; i < n; i++) {
		snprintf(hex + 2 * (size_t)i, 3, "%02x", sum[i]);
	}
	if (strcmp(hex, want) == 0) {
		return CTL_OK;
	}
	fprintf(f->ctl->err, "allotctl: what arrived has the checksum %s, the backup has %s\n", hex, want);
	return CTL_REFUSED;
}

static void sync_directory(const char *path)
{
	char *copy = mem_string(path);
	int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0) {
		(void)fsync(fd);
		close(fd);
	}
	free(copy);
}

static int put_in_place(struct fetch *f, const char *target)
{
	if (fflush(f->out) != 0 || fsync(fileno(f->out)) != 0) {
		return failed(f->ctl, f->temporary, "write");
	}
	if (rename(f->temporary, target) != 0) {
		return failed(f->ctl, target, "make");
	}
	sync_directory(target);
	return CTL_OK;
}

static int open_target(struct fetch *f)
{
	int fd = open(f->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	f->out = fd >= 0 ? fdopen(fd, "w") : NULL;
	f->digest = EVP_MD_CTX_new();
	if (!f->out || !f->digest || EVP_DigestInit_ex(f->digest, EVP_sha256(), NULL) != 1) {
		return failed(f->ctl, f->temporary, "write");
	}
	return CTL_OK;
}

static int fetch(struct ctl *ctl, const json_t *backup, const char *target)
{
	struct fetch f = { .ctl = ctl, .name = get_string(backup, "name"), .size = get_integer(backup, "bytes") };
	int status;

	f.temporary = mem_format("%s.incomplete", target);
	status = open_target(&f);
	if (status == CTL_OK) {
		status = fetch_parts(&f);
	}
	if (status == CTL_OK) {
		status = check(&f, get_string(backup, "sha256"));
	}
	if (status == CTL_OK) {
		status = put_in_place(&f, target);
	}
	if (f.out) {
		fclose(f.out);
	}
	if (status != CTL_OK) {
		(void)unlink(f.temporary);
	}
	EVP_MD_CTX_free(f.digest);
	free(f.temporary);
	return status;
}

static int say(struct ctl *ctl, json_t *backup_take, const char *target)
{
	if (ctl->options.format == FORMAT_JSON) {
		return ctl_print_json(ctl, backup_take);
	}
	fprintf(ctl->out, "%s: revision %" PRId64 " of epoch %" PRId64 ", %" PRId64 " bytes, sha256 %s\n", target,
		get_integer(backup_take, "revision"), get_integer(backup_take, "epoch"), get_integer(backup_take, "bytes"),
		get_string(backup_take, "sha256"));
	json_decref(backup_take);
	return CTL_OK;
}

int backup_run(struct ctl *ctl, char **arguments, int n)
{
	json_t *backup;
	int status = ctl_connected(ctl);

	(void)n;
	if (status != CTL_OK) {
		return status;
	}
	if (!(ctl->options.given & OPT_TIMEOUT)) {
		allot_set_timeout(ctl->conn, -1); /* a large database takes its time */
	}
	status = ctl_call(ctl, "backup.create", NULL, &backup);
	if (status != CTL_OK) {
		return status;
	}
	status = fetch(ctl, backup, arguments[0]);
	(void)ctl_call(ctl, "backup.remove", mem_must(json_pack("{s:s}", "name", get_string(backup, "name"))), NULL);
	if (status == CTL_OK) {
		return say(ctl, backup, arguments[0]);
	}
	json_decref(backup);
	return status;
}
