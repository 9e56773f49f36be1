/* Connections: who listens, who connects, who closes. */
#define _GNU_SOURCE
#include "virtual/fds.h"
#include "virtual/over.h"
#include "virtual/poll.h"
#include "virtual/real.h"
#include "virtual/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct sk_fd sk_fds[SK_MOST_FDS];

enum { MOST_WAITING = 4096, SIX = 65536 };

union address { struct sockaddr any; struct sockaddr_in v4; struct sockaddr_in6 v6; struct sockaddr_storage room; };

/* The port of an address; one of IPv6 that is none of IPv4 in other clothes lies in the upper half. -1 where there
 * is none. */
static int port_of(const struct sockaddr *address, socklen_t length)
{
    if (address && address->sa_family == AF_INET && length >= sizeof(struct sockaddr_in))
        return ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port);
    if (!address || address->sa_family != AF_INET6 || length < sizeof(struct sockaddr_in6))
        return -1;
    const struct sockaddr_in6 *six = (const void *)address;
    return ntohs(six->sin6_port) + (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr) ? 0 : SIX);
}

static int own_port(int fd)
{
    union address address;
    socklen_t length = sizeof address;
    return getsockname(fd, &address.any, &length) == 0 ? port_of(&address.any, length) : -1;
}

static int peer_port(int fd)
{
    union address address;
    socklen_t length = sizeof address;
    return getpeername(fd, &address.any, &length) == 0 ? port_of(&address.any, length) : -1;
}

/* The process that listens on a port, plus one. Of IPv4 it may listen on IPv6 for both. */
static int owner_of(int port)
{
    int owner = sk_shared->ports[port];
    return owner == 0 && port < SIX ? sk_shared->ports[port + SIX] : owner;
}

/* Of the direction from a connecting process to a listening one, and back: the ports of both make it unique on one
 * host. */
static uint64_t key_of(int connecting, int listening, bool forth)
{
    return ((uint64_t)connecting << 18) | ((uint64_t)listening << 1) | (forth ? 1 : 0) | (UINT64_C(1) << 40);
}

static bool is_tcp(int fd)
{
    int type = 0;
    socklen_t length = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0 && type == SOCK_STREAM;
}

static bool is_known(int fd)
{
    return sk_self_is_there() && fd >= 0 && fd < SK_MOST_FDS;
}

/* ---- listening, connecting, accepting ---------------------------------------------------------------------------- */

SK_EXPORT int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    if (is_known(fd) && port_of(address, length) % SIX == 0) {
        int yes = 1; /* else each connection needs a port of its own, and a full mesh uses them up */
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    }
    return sk_real()->bind(fd, address, length);
}

SK_EXPORT int listen(int fd, int waiting)
{
    if (!is_known(fd))
        return sk_real()->listen(fd, waiting);
    int status = sk_real()->listen(fd, waiting < MOST_WAITING ? MOST_WAITING : waiting), port = own_port(fd);
    if (status == 0 && port % SIX > 0) {
        sk_shared->ports[port] = sk_self.rank + 1;
        sk_fds[fd].is_listener = true;
    }
    return status;
}

static void keep_connection(int fd, uint32_t out, uint32_t in)
{
    sk_fds[fd] = (struct sk_fd){.out = out, .in = in, .is_stream = true, .is_watched = sk_fds[fd].is_watched};
    sk_poll_is_stream_now(fd);
}

/* Locked. */
static void meet(int fd, int owner, int port, uint32_t *out, uint32_t *in)
{
    int mine = own_port(fd);
    uint32_t forth = sk_shared_stream(key_of(mine, port, true)), back = sk_shared_stream(key_of(mine, port, false));
    sk_stream_bind(forth, sk_self.rank, owner);
    sk_stream_bind(back, owner, sk_self.rank);
    sk_stream_accept(back, fd);
    sk_stream_knock(forth);
    *out = forth;
    *in = back;
}

SK_EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    int port = is_known(fd) ? port_of(address, length) : -1;
    if (port <= 0 || owner_of(port) == 0 || !is_tcp(fd))
        return sk_real()->connect(fd, address, length);
    sk_shared_lock();
    uint32_t out = 0, in = 0;
    int status = sk_real()->connect(fd, address, length), code = errno;
    bool meets = (status == 0 || code == EINPROGRESS) && !sk_fds[fd].is_stream;
    if (meets)
        meet(fd, owner_of(port) - 1, port, &out, &in);
    sk_shared_unlock();
    if (meets)
        keep_connection(fd, out, in);
    errno = code;
    return status;
}

static int accepted(int listener, int fd)
{
    if (fd < 0 || !is_known(fd) || !is_known(listener) || !sk_fds[listener].is_listener)
        return fd;
    int code = errno, port = own_port(fd), theirs = peer_port(fd);
    sk_shared_lock();
    uint32_t forth = sk_shared_stream(key_of(theirs, port, true)), back = sk_shared_stream(key_of(theirs, port, false));
    bool is_ours = sk_shared->streams[forth].from >= 0;
    if (is_ours)
        sk_stream_accept(forth, fd);
    sk_shared_unlock();
    if (is_ours)
        keep_connection(fd, back, forth);
    errno = code;
    return fd;
}

SK_EXPORT int accept(int fd, struct sockaddr *address, socklen_t *length)
{
    return accepted(fd, sk_real()->accept(fd, address, length));
}

SK_EXPORT int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    return accepted(fd, sk_real()->accept4(fd, address, length, flags));
}

/* ---- closing, duplicates ----------------------------------------------------------------------------------------- */

/* A child between vfork and exec shares this memory, but it is another process. */
static bool is_this_process(void)
{
    return sk_self_is_there() && getpid() == sk_self.pid;
}

/* One of several descriptors of a stream is closed: another one reads on. */
static void pass_streams_on(int fd)
{
    int others = 0, last = -1;
    for (int other = 0; other < SK_MOST_FDS; other++)
        if (other != fd && sk_fds[other].is_stream && sk_fds[other].out == sk_fds[fd].out) {
            last = other;
            others++;
        }
    if (others == 1)
        sk_fds[last].shares = false;
    sk_shared_lock();
    if (last >= 0)
        sk_stream_accept(sk_fds[fd].in, last);
    sk_shared_unlock();
}

static void forget(int fd)
{
    if (!is_known(fd) || !is_this_process())
        return;
    struct sk_fd *one = &sk_fds[fd];
    sk_poll_forget(fd);
    if (one->is_listener && own_port(fd) > 0)
        sk_shared->ports[own_port(fd)] = 0;
    if (one->is_stream && one->shares)
        pass_streams_on(fd);
    else if (one->is_stream)
        sk_stream_end(one->out, one->in);
    *one = (struct sk_fd){0};
}

SK_EXPORT int close(int fd)
{
    if (fd >= 0 && fd == sk_shared_fd && is_this_process()) {
        errno = EBADF;
        return -1;
    }
    forget(fd);
    return sk_real()->close(fd);
}

/* A process that ends closes its connections, as the kernel does: others may wait for that. */
__attribute__((destructor)) static void end_all(void)
{
    if (!is_this_process() || sk_self.at->mode != SK_FREE)
        return;
    for (int fd = 0; fd < SK_MOST_FDS; fd++)
        if (sk_fds[fd].is_stream)
            sk_stream_end(sk_fds[fd].out, sk_fds[fd].in);
}

static int duplicate(int fd, int copy)
{
    if (copy >= 0 && copy != fd && sk_fd_is_stream(fd) && copy < SK_MOST_FDS && is_this_process()) {
        sk_fds[fd].shares = true;
        sk_fds[copy] = sk_fds[fd];
    }
    return copy;
}

SK_EXPORT int dup(int fd)
{
    return duplicate(fd, sk_real()->dup(fd));
}

SK_EXPORT int dup2(int fd, int to)
{
    if (to != fd)
        forget(to);
    return duplicate(fd, sk_real()->dup2(fd, to));
}

SK_EXPORT int dup3(int fd, int to, int flags)
{
    if (to != fd)
        forget(to);
    return duplicate(fd, sk_real()->dup3(fd, to, flags));
}

static int control(int fd, int command, void *argument)
{
    int result = sk_real()->fcntl(fd, command, argument);
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? duplicate(fd, result) : result;
}

SK_EXPORT int fcntl(int fd, int command, ...)
{
    va_list more;
    va_start(more, command);
    void *argument = va_arg(more, void *);
    va_end(more);
    return control(fd, command, argument);
}

SK_EXPORT int fcntl64(int fd, int command, ...)
{
    va_list more;
    va_start(more, command);
    void *argument = va_arg(more, void *);
    va_end(more);
    return control(fd, command, argument);
}

SK_EXPORT int ioctl(int fd, unsigned long request, ...)
{
    va_list more;
    va_start(more, request);
    void *argument = va_arg(more, void *);
    va_end(more);
    if (!sk_self_is_there() || !sk_fd_is_stream(fd) || request != FIONREAD)
        return sk_real()->ioctl(fd, request, argument);
    int64_t found = sk_stream_readable(sk_fds[fd].in);
    *(int *)argument = found > 0 ? (int)found : 0;
    return 0;
}

SK_EXPORT int shutdown(int fd, int how)
{
    if (sk_self_is_there() && sk_fd_is_stream(fd) && how != SHUT_RD && is_this_process())
        sk_stream_send(sk_fds[fd].out, NULL, 0, 0);
    return sk_real()->shutdown(fd, how);
}
