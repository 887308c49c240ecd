# Sourced by the demos: starts a server on a temporary directory with a socket of its own, ends it and removes everything when the
# script ends, however it does. Demos call `show allotctl ...`.
allotd=${ALLOTD:-build/allotd}
allotctl=${ALLOTCTL:-build/allotctl}
demo_dir=$(mktemp -d "${TMPDIR:-/tmp}/allot-demo.XXXXXX")
export ALLOTD_SOCKET="$demo_dir/allotd.sock"
demo_server=

demo_end() {
	status=$?
	trap - EXIT
	trap '' INT TERM HUP PIPE
	if [ -n "$demo_server" ]; then
		kill -TERM "$demo_server" 2>/dev/null || true
		wait "$demo_server" 2>/dev/null || true
	fi
	rm -rf "$demo_dir"
	exit "$status"
}
trap demo_end EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP
trap 'exit 141' PIPE

allotctl() { "$allotctl" "$@"; }

say() { printf '\n# %s\n\n' "$*"; }

# Prints a command as one would type it, and runs it.
show() {
	printf '$'
	for word in "$@"; do
		case $word in
		*[!A-Za-z0-9_./:=,%@-]*) printf " '%s'" "$word" ;;
		*) printf ' %s' "$word" ;;
		esac
	done
	printf '\n'
	"$@"
}

# The database file of the server.
database() { find "$demo_dir/data" -name '*.db' | head -n 1; }

"$allotd" --data-dir "$demo_dir/data" --socket "$ALLOTD_SOCKET" >"$demo_dir/log" 2>&1 &
demo_server=$!
while ! allotctl server.info >/dev/null 2>&1; do
	if ! kill -0 "$demo_server" 2>/dev/null; then
		echo "the server did not start:" >&2
		cat "$demo_dir/log" >&2
		exit 1
	fi
	sleep 0.05
done
