/* Which file descriptors of this process are connections to other processes of the launch.
 *
 * The kernel makes the connections; their bytes go through the shared memory, so the kernel's side stays empty. A
 * listening socket is known by its address and port, a connection by those of both ends. Connections to anybody else
 * are left alone. */
#ifndef SK_VIRTUAL_FDS_H
#define SK_VIRTUAL_FDS_H

#include <stdbool.h>
#include <stdint.h>

enum { SK_MOST_FDS = 65536 };

struct sk_fd {
    uint32_t out, in;      /* streams */
    int at;                /* where it was found last in a set of epoll */
    bool is_stream;
    bool is_listener;
    bool shares;           /* there are duplicates: closing it ends nothing */
    bool is_watched;       /* in a set of epoll, or such a set itself */
};

extern struct sk_fd sk_fds[SK_MOST_FDS];

static inline bool sk_fd_is_stream(int fd)
{
    return fd >= 0 && fd < SK_MOST_FDS && sk_fds[fd].is_stream;
}

#endif
