/* Connections: who listens, who connects, who closes. */
#define _GNU_SOURCE
#include "virtual/fds.h"
#include "virtual/listeners.h"
#include "virtual/poll.h"
#include "virtual/real.h"
#include "virtual/shared.h"
#include "virtual/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct sk_fd sk_fds[SK_MOST_FDS];

enum { MOST_WAITING = 4096 };

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

static bool asks_for_any_port(const struct sockaddr *address, socklen_t length)
{
    struct sockaddr_in six_or_four; /* the port stands at the same place in both */
    if (!address || length < sizeof six_or_four || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
        return false;
    memcpy(&six_or_four, address, sizeof six_or_four);
    return six_or_four.sin_port == 0;
}

/* ---- listening, connecting, accepting ---------------------------------------------------------------------------- */

SK_EXPORT int bind(int fd, const struct sockaddr *address, socklen_t length)
{
    if (is_known(fd) && asks_for_any_port(address, length)) {
        int yes = 1; /* else each connection needs a port of its own, and a full mesh uses them up */
        setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
    }
    return sk_real()->bind(fd, address, length);
}

SK_EXPORT int listen(int fd, int waiting)
{
    if (!is_known(fd))
        return sk_real()->listen(fd, waiting);
    sk_shared_lock();
    int status = sk_real()->listen(fd, waiting < MOST_WAITING ? MOST_WAITING : waiting), code = errno;
    int32_t place = status == 0 ? sk_listener_own_place(fd) : -1;
    if (place >= 0)
        sk_listener_open(place);
    sk_shared_unlock();
    sk_fds[fd].is_listener = sk_fds[fd].is_listener || place >= 0;
    errno = code;
    return status;
}

static void keep_connection(int fd, uint32_t out, uint32_t in)
{
    sk_fds[fd] = (struct sk_fd){.out = out, .in = in, .is_stream = true, .is_watched = sk_fds[fd].is_watched};
    sk_poll_is_stream_now(fd);
}

/* Locked. */
static void meet(int fd, int owner, int32_t place, uint32_t *out, uint32_t *in)
{
    int32_t mine = sk_listener_own_place(fd);
    uint32_t forth = sk_shared_stream(sk_listener_key(mine, place, true));
    uint32_t back = sk_shared_stream(sk_listener_key(mine, place, false));
    sk_stream_bind(forth, sk_self.rank, owner);
    sk_stream_bind(back, owner, sk_self.rank);
    sk_stream_accept(back, fd);
    sk_stream_knock(forth);
    *out = forth;
    *in = back;
}

SK_EXPORT int connect(int fd, const struct sockaddr *address, socklen_t length)
{
    if (!is_known(fd) || !is_tcp(fd))
        return sk_real()->connect(fd, address, length);
    sk_shared_lock();
    uint32_t out = 0, in = 0;
    int32_t place = sk_listener_place(address, length);
    int owner = place < 0 ? -1 : sk_listener_at(place);
    if (owner < 0) {
        sk_shared_unlock();
        return sk_real()->connect(fd, address, length);
    }
    int status = sk_real()->connect(fd, address, length), code = errno;
    bool meets = (status == 0 || code == EINPROGRESS) && !sk_fds[fd].is_stream;
    if (meets)
        meet(fd, owner, place, &out, &in);
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
    int code = errno;
    uint32_t forth = 0, back = 0;
    sk_shared_lock();
    int32_t own = sk_listener_own_place(fd), theirs = sk_listener_peer_place(fd);
    bool is_ours = own >= 0 && theirs >= 0;
    if (is_ours) {
        forth = sk_shared_stream(sk_listener_key(theirs, own, true));
        back = sk_shared_stream(sk_listener_key(theirs, own, false));
        is_ours = sk_shared->streams[forth].from >= 0;
    }
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

static void stop_listening(int fd)
{
    sk_shared_lock();
    int32_t place = sk_listener_own_place(fd);
    if (place >= 0)
        sk_listener_close(place);
    sk_shared_unlock();
}

static void forget(int fd)
{
    if (!is_known(fd) || !is_this_process())
        return;
    struct sk_fd *one = &sk_fds[fd];
    sk_poll_forget(fd);
    if (one->is_listener)
        stop_listening(fd);
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
