/* Driving a workload through the server; see drive.h. */
#include "ctl/drive.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/human.h"
#include "ctl/mem.h"
#include "ctl/progress.h"

enum {
	WINDOW = 64, /* reserves and releases on their way */
	CROWD = 512, /* calls on their way altogether, before further pods wait */
	LANES = 257, /* the first reserves and releases, the others bind and allocate */
};

const char *const drive_call_names[DRIVE_CALLS] = {
	[CALL_RESERVE] = "pod.reserve",
	[CALL_BIND] = "pod.bind",
	[CALL_ALLOCATE] = "plugin.allocate",
	[CALL_RELEASE] = "pod.release",
};

/* A call on its way. */
struct flight {
	size_t pod;
	enum drive_call call;
	int64_t sent; /* ns */
};

/* A connection and its calls on their way, oldest first: a ring of `room` places, a power of two. */
struct lane {
	struct allot_conn *conn;
	struct flight *flights;
	size_t first, n, room;
};

enum progress_of_pod { POD_WAITING, POD_RESERVING, POD_BINDING, POD_PLACED, POD_REFUSED, POD_FAILED };

struct driver {
	struct ctl *ctl;
	const struct trace *trace;
	const struct trace_step *steps;
	size_t n_steps;
	size_t begun; /* steps whose first call was sent, or that need none */
	size_t finished;
	size_t in_flight;
	int64_t held_milli; /* of the GPUs, by placed pods */
	enum progress_of_pod *pods;
	struct lane lanes[LANES];
	size_t n_lanes;
	struct drive_result *result;
};

static void board(struct lane *lane, struct flight flight)
{
	if (lane->n == lane->room) {
		size_t room = lane->room ? 2 * lane->room : 64, i;
		struct flight *flights = mem_array(room, sizeof(*flights));

		for (i = 0; i < lane->n; i++) {
			flights[i] = lane->flights[(lane->first + i) & (lane->room - 1)];
		}
		free(lane->flights);
		lane->flights = flights;
		lane->first = 0;
		lane->room = room;
	}
	lane->flights[(lane->first + lane->n++) & (lane->room - 1)] = flight;
}

static struct flight land(struct lane *lane)
{
	struct flight flight = lane->flights[lane->first];

	lane->first = (lane->first + 1) & (lane->room - 1);
	lane->n--;
	return flight;
}

static int send_call(struct driver *d, struct lane *lane, enum drive_call call, size_t pod, json_t *params)
{
	struct allot_error error = ALLOT_ERROR_INIT;
	int status = CTL_OK;

	if (allot_send(lane->conn, drive_call_names[call], params, NULL, &error) < 0) {
		status = ctl_failed(d->ctl, &error);
	} else {
		board(lane, (struct flight){ pod, call, latency_now() });
		d->in_flight++;
	}
	allot_error_clear(&error);
	return status;
}

/* Begins the next steps, as far as the windows and the order allow: a pod is released only after all is done with it. */
static int begin_steps(struct driver *d)
{
	struct lane *lane = &d->lanes[0];
	int status = CTL_OK;

	while (status == CTL_OK && d->begun < d->n_steps && lane->n < WINDOW && d->in_flight < CROWD) {
		const struct trace_step *step = &d->steps[d->begun];
		const struct trace_pod *pod = &d->trace->pods[step->pod];

		if (!step->release) {
			d->pods[step->pod] = POD_RESERVING;
			status = send_call(
				d, lane, CALL_RESERVE, step->pod, trace_reserve_params(d->trace, pod, d->ctl->options.policy));
		} else if (d->pods[step->pod] == POD_RESERVING || d->pods[step->pod] == POD_BINDING) {
			return CTL_OK;
		} else if (d->pods[step->pod] == POD_REFUSED) {
			d->finished++;
		} else {
			status = send_call(d, lane, CALL_RELEASE, step->pod, json_pack("{s:s}", "uid", pod->name));
		}
		d->begun++;
	}
	return status;
}

/* All calls for a node go over the same connection. */
static struct lane *lane_of(struct driver *d, const char *node)
{
	uint32_t hash = 2166136261u;

	for (; *node; node++) {
		hash = (hash ^ (unsigned char)*node) * 16777619u;
	}
	return &d->lanes[1 + hash % (d->n_lanes - 1)];
}

static int bind_pod(struct driver *d, size_t index, const char *node)
{
	const struct trace_pod *pod = &d->trace->pods[index];
	struct lane *lane = lane_of(d, node);
	int status = send_call(d, lane, CALL_BIND, index, json_pack("{s:s, s:s}", "uid", pod->name, "node", node));

	d->pods[index] = POD_BINDING;
	if (status == CTL_OK && pod->gpus) {
		status = send_call(d, lane, CALL_ALLOCATE, index, json_pack("{s:s, s:s}", "node", node, "uid", pod->name));
	}
	return status;
}

static void note_refusal(struct driver *d, enum drive_call call, const struct allot_error *error)
{
	char *reason = mem_format("%s: %s", drive_call_names[call], *error->reason ? error->reason : error->message);

	json_object_set_new(d->result->reasons, reason, json_integer(get_integer(d->result->reasons, reason) + 1));
	free(reason);
}

/* What the placed pods hold has changed. */
static void hold(struct driver *d, size_t pod, int sign)
{
	d->held_milli += sign * d->trace->pods[pod].gpus * d->trace->pods[pod].milli;
	if (d->held_milli > d->result->peak_milli) {
		d->result->peak_milli = d->held_milli;
	}
}

/* A pod's last call was answered. */
static void settle(struct driver *d, size_t pod, enum progress_of_pod how)
{
	d->pods[pod] = how;
	d->finished++;
	if (how == POD_PLACED) {
		d->result->placed++;
		hold(d, pod, 1);
	} else if (how == POD_REFUSED) {
		d->result->refused++;
	}
}

static int answer(struct driver *d, struct flight flight, const json_t *result, const struct allot_error *error)
{
	bool last = flight.call == CALL_ALLOCATE || (flight.call == CALL_BIND && !d->trace->pods[flight.pod].gpus);

	if (!result && d->pods[flight.pod] != POD_FAILED) {
		note_refusal(d, flight.call, error);
	}
	if (flight.call == CALL_RESERVE) {
		if (result) {
			return bind_pod(d, flight.pod, get_string(result, "node"));
		}
		settle(d, flight.pod, POD_REFUSED);
	} else if (flight.call == CALL_RELEASE) {
		d->finished++;
		d->result->released += get_bool(result, "released");
		d->result->failed += !result;
		if (result && d->pods[flight.pod] == POD_PLACED) {
			hold(d, flight.pod, -1);
		}
	} else {
		if (!result && d->pods[flight.pod] != POD_FAILED) {
			d->pods[flight.pod] = POD_FAILED;
			d->result->failed++;
		}
		if (last) {
			settle(d, flight.pod, d->pods[flight.pod] == POD_FAILED ? POD_FAILED : POD_PLACED);
		}
	}
	return CTL_OK;
}

/* Takes all answers that have come over a connection. */
static int take_answers(struct driver *d, struct lane *lane)
{
	struct allot_error error = ALLOT_ERROR_INIT;
	json_t *result;
	int64_t id;
	int status = CTL_OK, taken = 0;

	while (status == CTL_OK && (taken = allot_take(lane->conn, &id, &result, &error)) == 1) {
		struct flight flight = land(lane);

		d->in_flight--;
		d->result->calls++;
		latency_add(&d->result->latencies[flight.call], latency_now() - flight.sent);
		status = answer(d, flight, result, &error);
		json_decref(result);
	}
	if (status == CTL_OK && taken < 0) {
		status = ctl_failed(d->ctl, &error);
	}
	allot_error_clear(&error);
	return status;
}

/* Waits until a connection can be read or written, and serves all that can. */
static int serve(struct driver *d)
{
	struct pollfd polled[LANES];
	int status = CTL_OK, ready;
	size_t i;

	for (i = 0; i < d->n_lanes; i++) {
		polled[i] = (struct pollfd){ .fd = allot_descriptor(d->lanes[i].conn),
			.events = allot_interest(d->lanes[i].conn) };
	}
	ready = poll(polled, d->n_lanes, d->ctl->options.timeout);
	if (ready == 0) {
		fprintf(d->ctl->err, "allotctl: no answer from the server within %g s\n", d->ctl->options.timeout / 1000.0);
		return CTL_UNREACHABLE;
	}
	if (ready < 0 && errno != EINTR) {
		fprintf(d->ctl->err, "allotctl: cannot wait for the server: %s\n", strerror(errno));
		return CTL_UNREACHABLE;
	}
	for (i = 0; i < d->n_lanes && status == CTL_OK && ready > 0; i++) {
		if (polled[i].revents) {
			allot_process(d->lanes[i].conn, NULL); /* a failure shows when answers are taken */
			status = take_answers(d, &d->lanes[i]);
		}
	}
	return status;
}

static int open_lanes(struct driver *d)
{
	int status = CTL_OK;

	while (status == CTL_OK && d->n_lanes <= (size_t)d->ctl->options.connections) {
		status = ctl_connect(d->ctl, &d->lanes[d->n_lanes++].conn);
	}
	return status;
}

static void close_lanes(struct driver *d)
{
	size_t i;

	for (i = 0; i < d->n_lanes; i++) {
		allot_close(d->lanes[i].conn);
		free(d->lanes[i].flights);
	}
}

int drive(struct ctl *ctl, const struct trace *trace, const struct trace_step *steps, size_t n_steps, struct drive_result *result)
{
	struct driver *d = mem_array(1, sizeof(*d));
	struct progress progress = progress_begin(ctl, "replay", n_steps);
	int64_t start;
	int status;

	*d = (struct driver){ .ctl = ctl, .trace = trace, .steps = steps, .n_steps = n_steps, .result = result };
	*result = (struct drive_result){ .reasons = mem_must(json_object()) };
	d->pods = mem_array(trace->n_pods, sizeof(*d->pods));
	status = open_lanes(d);
	start = latency_now();
	while (status == CTL_OK && d->finished < n_steps) {
		status = begin_steps(d);
		if (status == CTL_OK && d->in_flight) {
			status = serve(d);
		}
		progress_show(&progress, d->finished);
	}
	result->seconds = (double)(latency_now() - start) / 1e9;
	progress_end(&progress);
	close_lanes(d);
	free(d->pods);
	free(d);
	return status;
}

void drive_result_free(struct drive_result *result)
{
	size_t i;

	json_decref(result->reasons);
	for (i = 0; i < DRIVE_CALLS; i++) {
		latency_free(&result->latencies[i]);
	}
}

static int registered(struct ctl *ctl)
{
	struct allot_error error = ALLOT_ERROR_INIT;
	int status = CTL_OK;

	if (allot_receive(ctl->conn, NULL, NULL, &error) < 0) {
		status = ctl_failed(ctl, &error);
	}
	allot_error_clear(&error);
	return status;
}

int drive_register(struct ctl *ctl, const struct trace *trace)
{
	struct progress progress = progress_begin(ctl, "register", trace->n_nodes);
	struct allot_error error = ALLOT_ERROR_INIT;
	int status = ctl_connected(ctl);
	size_t i;

	for (i = 0; i < trace->n_nodes && status == CTL_OK; i++) {
		if (allot_send(ctl->conn, "node.register", trace_register_params(&trace->nodes[i]), NULL, &error) < 0) {
			status = ctl_failed(ctl, &error);
		} else if (allot_unanswered(ctl->conn) == WINDOW) {
			status = registered(ctl);
		}
		progress_show(&progress, i);
	}
	while (status == CTL_OK && allot_unanswered(ctl->conn)) {
		status = registered(ctl);
	}
	progress_end(&progress);
	allot_error_clear(&error);
	return status;
}
