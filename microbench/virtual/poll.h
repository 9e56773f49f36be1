/* Waiting for connections: epoll, poll and select over streams of the launch and, now and then, what the kernel has. */
#ifndef SK_VIRTUAL_POLL_H
#define SK_VIRTUAL_POLL_H

#include <stdbool.h>

/* A descriptor became a stream: the kernel need not watch it any more. */
void sk_poll_is_stream_now(int fd);

/* A descriptor, stream or set, is closed. */
void sk_poll_forget(int fd);

/* Waits until something can be read from one stream; `for_ever`: however long it takes. False: nobody has anything
 * to do. */
bool sk_poll_wait_for(int fd, bool for_ever);

#endif
