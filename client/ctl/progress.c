/* A progress bar; see progress.h. */
#include "ctl/progress.h"

#include "ctl/latency.h"

enum { WIDTH = 30, INTERVAL = 100000000 };

struct progress progress_begin(const struct ctl *ctl, const char *what, size_t total)
{
	return (struct progress){
		.out = ctl->progress && ctl->options.format != FORMAT_JSON ? ctl->err : NULL,
		.what = what,
		.total = total ? total : 1,
		.started = latency_now(),
	};
}

void progress_show(struct progress *progress, size_t done)
{
	static const char full[] = "##############################", empty[] = "..............................";
	int64_t now;
	int filled = (int)(done * WIDTH / progress->total);
	double seconds;

	if (!progress->out) {
		return;
	}
	now = latency_now();
	if (now - progress->shown < INTERVAL) {
		return;
	}
	progress->shown = now;
	seconds = (double)(now - progress->started) / 1e9;
	fprintf(progress->out, "\r%s [%.*s%.*s] %zu/%zu  %.0f/s ", progress->what, filled, full, WIDTH - filled, empty, done,
		progress->total, seconds > 0 ? (double)done / seconds : 0);
	fflush(progress->out);
}

void progress_end(struct progress *progress)
{
	if (progress->out) {
		fputs("\r\033[K", progress->out);
		fflush(progress->out);
	}
}
