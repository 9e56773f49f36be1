/* The functions of the C library behind those that the layer replaces. Looked up at first use: constructors of other
 * libraries call some of them before any of ours. */
#ifndef SK_VIRTUAL_REAL_H
#define SK_VIRTUAL_REAL_H

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>

/* SK_REAL(result, name, parameters) */
#define SK_REALS \
    SK_REAL(int, close, (int)) \
    SK_REAL(int, dup, (int)) \
    SK_REAL(int, dup2, (int, int)) \
    SK_REAL(int, dup3, (int, int, int)) \
    SK_REAL(int, shutdown, (int, int)) \
    SK_REAL(int, bind, (int, const struct sockaddr *, socklen_t)) \
    SK_REAL(int, listen, (int, int)) \
    SK_REAL(int, accept, (int, struct sockaddr *, socklen_t *)) \
    SK_REAL(int, accept4, (int, struct sockaddr *, socklen_t *, int)) \
    SK_REAL(int, connect, (int, const struct sockaddr *, socklen_t)) \
    SK_REAL(ssize_t, send, (int, const void *, size_t, int)) \
    SK_REAL(ssize_t, sendto, (int, const void *, size_t, int, const struct sockaddr *, socklen_t)) \
    SK_REAL(ssize_t, sendmsg, (int, const struct msghdr *, int)) \
    SK_REAL(ssize_t, write, (int, const void *, size_t)) \
    SK_REAL(ssize_t, writev, (int, const struct iovec *, int)) \
    SK_REAL(int, sendmmsg, (int, struct mmsghdr *, unsigned, int)) \
    SK_REAL(ssize_t, sendfile, (int, int, off_t *, size_t)) \
    SK_REAL(ssize_t, recv, (int, void *, size_t, int)) \
    SK_REAL(ssize_t, recvfrom, (int, void *, size_t, int, struct sockaddr *, socklen_t *)) \
    SK_REAL(ssize_t, recvmsg, (int, struct msghdr *, int)) \
    SK_REAL(int, recvmmsg, (int, struct mmsghdr *, unsigned, int, struct timespec *)) \
    SK_REAL(ssize_t, read, (int, void *, size_t)) \
    SK_REAL(ssize_t, readv, (int, const struct iovec *, int)) \
    SK_REAL(int, ioctl, (int, unsigned long, ...)) \
    SK_REAL(int, fcntl, (int, int, ...)) \
    SK_REAL(int, epoll_ctl, (int, int, int, struct epoll_event *)) \
    SK_REAL(int, epoll_wait, (int, struct epoll_event *, int, int)) \
    SK_REAL(int, epoll_pwait, (int, struct epoll_event *, int, int, const sigset_t *)) \
    SK_REAL(int, epoll_pwait2, (int, struct epoll_event *, int, const struct timespec *, const sigset_t *)) \
    SK_REAL(int, poll, (struct pollfd *, nfds_t, int)) \
    SK_REAL(int, ppoll, (struct pollfd *, nfds_t, const struct timespec *, const sigset_t *)) \
    SK_REAL(int, select, (int, fd_set *, fd_set *, fd_set *, struct timeval *)) \
    SK_REAL(int, pselect, (int, fd_set *, fd_set *, fd_set *, const struct timespec *, const sigset_t *)) \
    SK_REAL(int, clock_gettime, (clockid_t, struct timespec *)) \
    SK_REAL(int, gettimeofday, (struct timeval *, void *)) \
    SK_REAL(time_t, time, (time_t *)) \
    SK_REAL(int, nanosleep, (const struct timespec *, struct timespec *)) \
    SK_REAL(int, clock_nanosleep, (clockid_t, int, const struct timespec *, struct timespec *)) \
    SK_REAL(int, usleep, (unsigned)) \
    SK_REAL(unsigned, sleep, (unsigned)) \
    SK_REAL(int, sched_yield, (void))

#define SK_REAL(result, name, parameters) result (*name) parameters;
struct sk_reals { SK_REALS };
#undef SK_REAL

const struct sk_reals *sk_real(void);

#define SK_EXPORT __attribute__((visibility("default")))

#endif
