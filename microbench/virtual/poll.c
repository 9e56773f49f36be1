#define _GNU_SOURCE
#include "virtual/poll.h"

#include "virtual/fds.h"
#include "virtual/real.h"
#include "virtual/shared.h"
#include "virtual/stream.h"
#include "virtual/turn.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* How many polls in a row find nothing before a process counts as waiting: event loops look again before they hand
 * a message
 * on, and once more when they have. */
enum { PATIENCE = 4, FREE_PATIENCE = 64, ASK_KERNEL_EVERY = 256, NAP_NS = 20000, MOST_NAPS = 5000,
       MOST_ELSEWHERE = 64,        FREE_NAP_NS = 200000 };

#include "virtual/sets.h"

#include "virtual/look.h"

/* ---- waiting ----------------------------------------------------------------------------------------------------- */

static void nap(long ns)
{
    const struct timespec t = {0, ns};
    sk_real()->nanosleep(&t, NULL);
}

static int counted(int found)
{
    sk_self.empty = 0;
    sk_self.readings = 0;
    if (found > 0)
        sk_shared->events++;
    return found;
}

/* In free time, before and after virtual time, everything that was sent is there at once. */
static int look_freely(struct look *look, int64_t timeout_ns)
{
    for (int64_t left = timeout_ns;;) {
        uint32_t bell = __atomic_load_n(&sk_self.at->bell, __ATOMIC_ACQUIRE);
        int found = collect(look);
        if (found == 0)
            found = ask_kernel(look);
        if (found != 0)
            return found > 0 ? counted(found) : found;
        if (timeout_ns == 0 && ++sk_self.empty <= FREE_PATIENCE)
            return 0;
        int64_t ns = left < 0 || timeout_ns == 0 || left > FREE_NAP_NS ? FREE_NAP_NS : left;
        const struct timespec t = {0, (long)ns};
        syscall(SYS_futex, &sk_self.at->bell, FUTEX_WAIT, bell, &t, NULL, 0);
        left -= timeout_ns > 0 ? ns : 0;
        if (timeout_ns == 0 || left == 0)
            return 0;
    }
}

/* Gives up the turn until there is something, the deadline, or nobody has anything to do. Returns whether the
 * caller must look
 * at the kernel too. */
static bool give_up_turn(const struct look *look, sk_ps deadline)
{
    sk_ps next = earliest(look);
    if (!sk_turn_wait(next < deadline ? next : deadline, true))
        return true;
    next = earliest(look);
    next = next < deadline ? next : deadline;
    if (next != SK_NEVER)
        sk_turn_advance(next);
    return false;
}

static int look_timed(struct look *look, int64_t timeout_ns)
{
    static int calls, naps, elsewhere;
    sk_ps begin = sk_self.at->clock;
    sk_ps deadline = timeout_ns > 0 ? sk_machine_after(begin, timeout_ns) : SK_NEVER;
    bool asks = ++calls % ASK_KERNEL_EVERY == 0;
    for (;;) {
        look->accepts = look->accepts && naps <= MOST_NAPS;
        int found = collect(look);
        if (found > 0 && (look->has_readable || ++sk_self.rooms <= PATIENCE)) {
            naps = elsewhere = 0;
            sk_self.rooms = look->has_readable ? 0 : sk_self.rooms;
            return counted(found);
        }
        if (found > 0) { /* time goes on for a library that asks for room although it has nothing to write */
            look->ignores_room = true;
            continue;
        }
        if (sk_self.at->clock > sk_self.at->settled) {
            sk_turn_settle();
            continue;
        }
        if (look->waits_for_accept || asks) {
            if ((found = ask_kernel(look)) != 0)
                return counted(found);
            if (look->waits_for_accept && ++naps <= MOST_NAPS)
                nap(NAP_NS);
        }
        if (sk_self.at->clock >= deadline)
            return counted(0);
        if (timeout_ns == 0 && (look->waits_for_accept || ++sk_self.empty <= PATIENCE))
            return 0;
        if (look->waits_for_accept)
            continue;
        look->is_one_of_several = timeout_ns == 0 && n_asked > 1 && elsewhere <= MOST_ELSEWHERE;
        asks = give_up_turn(look, deadline);
        if (asks && timeout_ns == 0) {
            found = ask_kernel(look);
            return found > 0 ? counted(found) : 0;
        }
        if (look->is_one_of_several && (found = collect(look)) == 0) {
            elsewhere++;
            return 0;
        }
    }
}

static bool has_streams(const struct look *look)
{
    if (look->set)
        return look->set->n_streams > 0;
    for (nfds_t i = 0; i < look->n; i++)
        if (sk_fd_is_stream(look->fds[i].fd))
            return true;
    return false;
}

static bool is_another_thread(const struct look *look)
{
    if (sk_self_is_first)
        return false;
    if (has_streams(look) && sk_self.at->mode >= SK_TIMED && sk_self.at->mode <= SK_FINISHING)
        sk_over("a thread other than that which called MPI_Init waits for connections of the MPI library; switch off "
                "its "
                "progress thread");
    return true;
}

static int look_for(struct look *look, int64_t timeout_ns)
{
    return sk_self_is_timed() ? look_timed(look, timeout_ns) : look_freely(look, timeout_ns);
}

bool sk_poll_wait_for(int fd, bool for_ever)
{
    struct pollfd one = {.fd = fd, .events = POLLIN};
    struct look look = {.place = -1, .fds = &one, .n = 1, .most = 1};
    return look_for(&look, for_ever ? -1 : 0) > 0;
}

/* ---- epoll ------------------------------------------------------------------------------------------------------- */

static int wait_set(int place, struct epoll_event *events, int most, int64_t timeout_ns)
{
    struct look look = {.place = place, .set = set_of(place), .events = events, .most = most, .accepts = true};
    static struct set none;
    if (!look.set)
        look.set = &none;
    if (sk_self_is_timed() && !look.set->is_asked) {
        look.set->is_asked = true;
        n_asked++;
    }
    return look_for(&look, timeout_ns);
}

static int64_t ns_of(int milliseconds)
{
    return milliseconds < 0 ? -1 : INT64_C(1000000) * milliseconds;
}

static bool is_left_alone(int place)
{
    struct look look = {.place = place, .set = set_of(place)};
    return !sk_self_is_there() || is_another_thread(&look) || (!look.set && !sk_self_is_timed());
}

SK_EXPORT int epoll_wait(int place, struct epoll_event *events, int most, int timeout)
{
    if (is_left_alone(place))
        return sk_real()->epoll_wait(place, events, most, timeout);
    return wait_set(place, events, most, ns_of(timeout));
}

SK_EXPORT int epoll_pwait(int place, struct epoll_event *events, int most, int timeout, const sigset_t *mask)
{
    if (is_left_alone(place))
        return sk_real()->epoll_pwait(place, events, most, timeout, mask);
    return wait_set(place, events, most, ns_of(timeout));
}

/* Declared here because the C library has it from 2.35 on. */
SK_EXPORT int epoll_pwait2(int place, struct epoll_event *events, int most, const struct timespec *timeout,
                           const sigset_t *mask);

SK_EXPORT int epoll_pwait2(int place, struct epoll_event *events, int most, const struct timespec *timeout,
                           const sigset_t *mask)
{
    if (!is_left_alone(place))
        return wait_set(place, events, most, timeout ? sk_machine_ns(timeout->tv_sec, timeout->tv_nsec) : -1);
    if (sk_real()->epoll_pwait2)
        return sk_real()->epoll_pwait2(place, events, most, timeout, mask);
    errno = ENOSYS;
    return -1;
}

/* ---- poll and select --------------------------------------------------------------------------------------------- */

static bool fds_are_left_alone(struct pollfd *fds, nfds_t n)
{
    struct look look = {.place = -1, .fds = fds, .n = n};
    if (!sk_self_is_there() || is_another_thread(&look))
        return true;
    return !sk_self_is_timed() && !has_streams(&look);
}

/* Nothing of the launch is among the descriptors: the kernel is asked first, and a wait without end goes on
 * outside, as that of
 * a read does. */
static int poll_outside(struct pollfd *fds, nfds_t n, bool waits)
{
    int found = sk_real()->poll(fds, n, 0), code = errno;
    if (found == 0 && waits) {
        sk_turn_go_outside();
        found = sk_real()->poll(fds, n, -1);
        code = errno;
        sk_turn_come_back();
    }
    errno = code;
    return found;
}

static int wait_fds(struct pollfd *fds, nfds_t n, int64_t timeout_ns)
{
    struct look look = {.place = -1, .fds = fds, .n = n, .most = INT_MAX};
    for (nfds_t i = 0; i < n; i++)
        look.accepts = look.accepts || (is_place(fds[i].fd) && sk_fds[fds[i].fd].is_listener);
    if (sk_self_is_timed() && n > 0 && !look.accepts && !has_streams(&look)) {
        int found = poll_outside(fds, n, timeout_ns < 0);
        if (found != 0 || timeout_ns < 0)
            return counted(found);
    }
    return look_for(&look, timeout_ns);
}

SK_EXPORT int poll(struct pollfd *fds, nfds_t n, int timeout)
{
    if (fds_are_left_alone(fds, n))
        return sk_real()->poll(fds, n, timeout);
    return wait_fds(fds, n, ns_of(timeout));
}

SK_EXPORT int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *timeout, const sigset_t *mask)
{
    if (fds_are_left_alone(fds, n))
        return sk_real()->ppoll(fds, n, timeout, mask);
    return wait_fds(fds, n, timeout ? sk_machine_ns(timeout->tv_sec, timeout->tv_nsec) : -1);
}

SK_EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room);

SK_EXPORT int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t room)
{
    return poll(fds, n < room / sizeof *fds ? n : room / sizeof *fds, timeout);
}

/* Turns the three sets of select into an array. Returns how many. */
static nfds_t from_sets(struct pollfd *fds, int n, const fd_set *in, const fd_set *out, const fd_set *bad)
{
    nfds_t used = 0;
    for (int fd = 0; fd < n; fd++) {
        int events = (in && FD_ISSET(fd, in) ? POLLIN : 0) | (out && FD_ISSET(fd, out) ? POLLOUT : 0);
        if (events || (bad && FD_ISSET(fd, bad)))
            fds[used++] = (struct pollfd){.fd = fd, .events = (short)events};
    }
    return used;
}

static void keep_found(fd_set *set, const struct pollfd *one, int events, int *found)
{
    if (!set || !FD_ISSET(one->fd, set))
        return;
    if (one->revents & events)
        ++*found;
    else
        FD_CLR(one->fd, set);
}

static int wait_sets(struct pollfd *fds, nfds_t n, fd_set *in, fd_set *out, fd_set *bad, int64_t timeout_ns)
{
    int status = wait_fds(fds, n, timeout_ns), found = 0;
    for (nfds_t i = 0; status >= 0 && i < n; i++) {
        keep_found(in, &fds[i], POLLIN | POLLHUP | POLLERR, &found);
        keep_found(out, &fds[i], POLLOUT | POLLERR, &found);
        keep_found(bad, &fds[i], POLLPRI, &found);
    }
    return status < 0 ? status : found;
}

SK_EXPORT int select(int n, fd_set *in, fd_set *out, fd_set *bad, struct timeval *timeout)
{
    struct pollfd fds[FD_SETSIZE];
    nfds_t used = sk_self_is_there() ? from_sets(fds, n < FD_SETSIZE ? n : FD_SETSIZE, in, out, bad) : 0;
    if (fds_are_left_alone(fds, used))
        return sk_real()->select(n, in, out, bad, timeout);
    return wait_sets(fds, used, in, out, bad,
                     timeout ? sk_machine_ns(timeout->tv_sec, (int64_t)timeout->tv_usec * 1000) : -1);
}

SK_EXPORT int pselect(int n, fd_set *in, fd_set *out, fd_set *bad, const struct timespec *timeout, const sigset_t *mask)
{
    struct pollfd fds[FD_SETSIZE];
    nfds_t used = sk_self_is_there() ? from_sets(fds, n < FD_SETSIZE ? n : FD_SETSIZE, in, out, bad) : 0;
    if (fds_are_left_alone(fds, used))
        return sk_real()->pselect(n, in, out, bad, timeout, mask);
    return wait_sets(fds, used, in, out, bad, timeout ? sk_machine_ns(timeout->tv_sec, timeout->tv_nsec) : -1);
}
