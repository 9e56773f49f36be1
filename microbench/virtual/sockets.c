/* Sending and receiving on connections between processes of the launch; everything else goes to the C library. */
#define _GNU_SOURCE
#include "virtual/fds.h"
#include "virtual/poll.h"
#include "virtual/real.h"
#include "virtual/shared.h"
#include "virtual/stream.h"
#include "virtual/turn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

/* PATIENCE: reads in a row that find nothing before a process that never polls gives up its turn */
enum { REFUSALS = 65536, PATIENCE = 4 };

static bool is_ours(int fd)
{
    return sk_self_is_there() && sk_fd_is_stream(fd);
}

static bool may_wait(int fd, int flags)
{
    return !(flags & MSG_DONTWAIT) && !(sk_real()->fcntl(fd, F_GETFL) & O_NONBLOCK);
}

/* Two threads with one clock would make it run by chance. */
static void require_first_thread(void)
{
    if (!sk_self_is_first && sk_self.at->mode >= SK_TIMED && sk_self.at->mode <= SK_FINISHING)
        sk_over("a thread other than that which called MPI_Init uses a connection of the MPI library; switch off its "
                "progress "
                "thread, or do without MPI_THREAD_MULTIPLE");
}

static int64_t total(const struct iovec *parts, int n)
{
    int64_t bytes = 0;
    for (int i = 0; i < n; i++)
        bytes += (int64_t)parts[i].iov_len;
    return bytes;
}

/* ---- sending ----------------------------------------------------------------------------------------------------- */

static ssize_t put(int fd, const struct iovec *parts, int n, int flags)
{
    int64_t bytes = total(parts, n);
    sk_ps when;
    static int refused; /* in a row: who tries for ever, as Open MPI does to say who it is, waits */
    require_first_thread();
    if (bytes == 0)
        return 0;
    while (sk_self_is_timed() && !sk_stream_has_room(sk_fds[fd].out, &when)) {
        sk_self.rooms = 0;
        if (!may_wait(fd, flags) && ++refused <= REFUSALS) {
            errno = EAGAIN;
            return -1;
        }
        sk_turn_sleep(when);
    }
    refused = 0;
    if (sk_stream_send(sk_fds[fd].out, parts, n, bytes))
        return (ssize_t)bytes;
    errno = EPIPE;
    return -1;
}

SK_EXPORT ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
    struct iovec one = {(void *)(uintptr_t)bytes, n};
    return is_ours(fd) ? put(fd, &one, 1, flags) : sk_real()->send(fd, bytes, n, flags);
}

SK_EXPORT ssize_t sendto(int fd, const void *bytes, size_t n, int flags, const struct sockaddr *to, socklen_t length)
{
    struct iovec one = {(void *)(uintptr_t)bytes, n};
    return is_ours(fd) ? put(fd, &one, 1, flags) : sk_real()->sendto(fd, bytes, n, flags, to, length);
}

SK_EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    if (!is_ours(fd))
        return sk_real()->sendmsg(fd, message, flags);
    return put(fd, message->msg_iov, (int)message->msg_iovlen, flags);
}

SK_EXPORT ssize_t write(int fd, const void *bytes, size_t n)
{
    struct iovec one = {(void *)(uintptr_t)bytes, n};
    return is_ours(fd) ? put(fd, &one, 1, 0) : sk_real()->write(fd, bytes, n);
}

SK_EXPORT ssize_t writev(int fd, const struct iovec *parts, int n)
{
    return is_ours(fd) ? put(fd, parts, n, 0) : sk_real()->writev(fd, parts, n);
}

/* ---- receiving --------------------------------------------------------------------------------------------------- */

static ssize_t get(int fd, const struct iovec *parts, int n, int flags)
{
    int64_t wanted = total(parts, n);
    require_first_thread();
    if (wanted == 0)
        return 0;
    for (;;) {
        int64_t found = sk_stream_read(sk_fds[fd].in, parts, n, flags & MSG_PEEK);
        if (found >= 0 && !(flags & MSG_WAITALL && found > 0 && found < wanted && !(flags & MSG_PEEK)))
            return (ssize_t)found;
        if (found > 0)
            sk_over("MSG_WAITALL on a connection of the MPI library is not supported");
        bool waits = may_wait(fd, flags);
        if (!waits && ++sk_self.empty <= PATIENCE) {
            errno = EAGAIN;
            return -1;
        }
        if (!sk_poll_wait_for(fd, waits)) {
            errno = EAGAIN;
            return -1;
        }
    }
}

/* Whether reading `fd`, which is nobody's of the launch, will wait for something outside: then others go on
 * meanwhile. */
static bool waits_outside(int fd, int flags)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    return sk_self_is_timed() && may_wait(fd, flags) && sk_real()->poll(&one, 1, 0) == 0;
}

#define OUTSIDE(fd, flags, call) \
    do { \
        bool goes = waits_outside(fd, flags); \
        if (goes) \
            sk_turn_go_outside(); \
        ssize_t result = (call); \
        int code = errno; \
        if (goes) \
            sk_turn_come_back(); \
        errno = code; \
        return result; \
    } while (0)

SK_EXPORT ssize_t recv(int fd, void *bytes, size_t n, int flags)
{
    struct iovec one = {bytes, n};
    if (is_ours(fd))
        return get(fd, &one, 1, flags);
    OUTSIDE(fd, flags, sk_real()->recv(fd, bytes, n, flags));
}

SK_EXPORT ssize_t recvfrom(int fd, void *bytes, size_t n, int flags, struct sockaddr *from, socklen_t *length)
{
    struct iovec one = {bytes, n};
    if (!is_ours(fd))
        OUTSIDE(fd, flags, sk_real()->recvfrom(fd, bytes, n, flags, from, length));
    if (length)
        *length = 0;
    return get(fd, &one, 1, flags);
}

SK_EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    if (!is_ours(fd))
        OUTSIDE(fd, flags, sk_real()->recvmsg(fd, message, flags));
    message->msg_namelen = 0;
    message->msg_controllen = 0;
    message->msg_flags = 0;
    return get(fd, message->msg_iov, (int)message->msg_iovlen, flags);
}

SK_EXPORT ssize_t read(int fd, void *bytes, size_t n)
{
    struct iovec one = {bytes, n};
    if (is_ours(fd))
        return get(fd, &one, 1, 0);
    OUTSIDE(fd, 0, sk_real()->read(fd, bytes, n));
}

SK_EXPORT ssize_t readv(int fd, const struct iovec *parts, int n)
{
    if (is_ours(fd))
        return get(fd, parts, n, 0);
    OUTSIDE(fd, 0, sk_real()->readv(fd, parts, n));
}

/* ---- what no library was seen to use ----------------------------------------------------------------------------- */

/* The kernel's side of a connection is empty: what went there would be lost without a word. */
static void require_not_ours(int fd, const char *why)
{
    if (is_ours(fd))
        sk_over(why);
}

SK_EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags)
{
    require_not_ours(fd, "sendmmsg on a connection of the MPI library is not supported");
    return sk_real()->sendmmsg(fd, messages, n, flags);
}

SK_EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags, struct timespec *timeout)
{
    require_not_ours(fd, "recvmmsg on a connection of the MPI library is not supported");
    return sk_real()->recvmmsg(fd, messages, n, flags, timeout);
}

SK_EXPORT ssize_t sendfile(int to, int from, off_t *at, size_t n)
{
    require_not_ours(to, "sendfile on a connection of the MPI library is not supported");
    return sk_real()->sendfile(to, from, at, n);
}

/* ---- functions that check lengths -------------------------------------------------------------------------------- */

/* Programs that were compiled with checks of lengths call these instead. */
SK_EXPORT ssize_t __recv_chk(int fd, void *bytes, size_t n, size_t room, int flags);
SK_EXPORT ssize_t __read_chk(int fd, void *bytes, size_t n, size_t room);
SK_EXPORT ssize_t __recvfrom_chk(int fd, void *bytes, size_t n, size_t room, int flags, struct sockaddr *from,
                                 socklen_t *length);

SK_EXPORT ssize_t __recv_chk(int fd, void *bytes, size_t n, size_t room, int flags)
{
    return recv(fd, bytes, n < room ? n : room, flags);
}

SK_EXPORT ssize_t __read_chk(int fd, void *bytes, size_t n, size_t room)
{
    return read(fd, bytes, n < room ? n : room);
}

SK_EXPORT ssize_t __recvfrom_chk(int fd, void *bytes, size_t n, size_t room, int flags, struct sockaddr *from,
                                 socklen_t *length)
{
    return recvfrom(fd, bytes, n < room ? n : room, flags, from, length);
}
