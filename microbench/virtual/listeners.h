/* Who listens where: the addresses of this host that the processes of a launch use, and the ports of each.
 *
 * A port alone says nothing: the kernel gives the same one to two processes that listen on different addresses. All
 * functions are called with the shared memory locked. */
#ifndef SK_VIRTUAL_LISTENERS_H
#define SK_VIRTUAL_LISTENERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* An address and a port, as a number; -1 where there is none. */
int32_t sk_listener_place(const struct sockaddr *address, socklen_t length);
int32_t sk_listener_own_place(int fd);
int32_t sk_listener_peer_place(int fd);

void sk_listener_open(int32_t place); /* this process listens there */
void sk_listener_close(int32_t place);

/* The process that listens to who connects to a place; -1: nobody of the launch. */
int sk_listener_at(int32_t place);

/* The key of a stream from a connecting process to a listening one (`forth`), or back. */
uint64_t sk_listener_key(int32_t connecting, int32_t listening, bool forth);

#endif
