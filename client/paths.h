/* Where a server and its clients meet when nobody says otherwise. Shared by allotd and allotctl; depends on libc only. */
#ifndef ALLOT_PATHS_H
#define ALLOT_PATHS_H

/* The default socket path: $ALLOTD_SOCKET, else $XDG_RUNTIME_DIR/allotd/allotd.sock, else /run/allotd/allotd.sock for root,
 * else ~/.local/state/allotd/allotd.sock. Variables that are empty count as unset. The path is new memory (free());
 * NULL when memory is short or no home directory is known. */
char *allot_default_socket(void);

#endif
