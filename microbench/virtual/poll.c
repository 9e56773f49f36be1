#define _GNU_SOURCE
#include "virtual/poll.h"

#include "virtual/fds.h"
#include "virtual/over.h"
#include "virtual/real.h"
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

/* How many polls in a row find nothing before a process counts as waiting: event loops look again before they hand a message
 * on, and once more when they have. */
enum { PATIENCE = 4, FREE_PATIENCE = 64, ASK_KERNEL_EVERY = 256, NAP_NS = 20000, MOST_NAPS = 5000,
       MOST_ELSEWHERE = 64,        FREE_NAP_NS = 200000 };

/* ---- the sets of epoll ------------------------------------------------------------------------------------------- */

struct interest { int fd; bool in_kernel; struct epoll_event event; };

struct set {
    bool is_asked;                /* by the first thread, in virtual time */
    struct interest *of;
    int n, room, n_streams, n_kernel, n_writing; /* n_writing: streams that want to know when there is room */
};

static struct set *sets[SK_MOST_FDS];
static int places[SK_MOST_FDS], n_places; /* where there are sets */
static int n_asked;                       /* of these, in virtual time by the first thread */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* over the sets: a library may accept in a thread of its own */

static bool is_place(int fd)
{
    return fd >= 0 && fd < SK_MOST_FDS;
}

static struct set *set_of(int set)
{
    return is_place(set) ? sets[set] : NULL;
}

static struct interest *find(const struct set *set, int fd)
{
    for (int i = 0; i < set->n; i++)
        if (set->of[i].fd == fd)
            return &set->of[i];
    return NULL;
}

static void count(struct set *set, const struct interest *one, int by)
{
    set->n_kernel += one->in_kernel ? by : 0;
    set->n_streams += one->in_kernel ? 0 : by;
    set->n_writing += !one->in_kernel && (one->event.events & EPOLLOUT) ? by : 0;
}

static struct set *made(int place)
{
    if (!sets[place]) {
        sets[place] = calloc(1, sizeof *sets[place]);
        places[n_places++] = place;
        sk_fds[place].is_watched = true;
    }
    if (!sets[place])
        sk_over("no memory for a set of epoll");
    return sets[place];
}

static void keep(int place, int fd, const struct epoll_event *event, bool in_kernel)
{
    struct set *set = made(place);
    if (set->n == set->room) {
        set->room = 2 * set->room + 16;
        set->of = realloc(set->of, (size_t)set->room * sizeof *set->of);
        if (!set->of)
            sk_over("no memory for a set of epoll");
    }
    set->of[set->n] = (struct interest){.fd = fd, .in_kernel = in_kernel, .event = *event};
    count(set, &set->of[set->n++], 1);
    sk_fds[fd].is_watched = true;
}

static void drop(struct set *set, int fd)
{
    struct interest *one = find(set, fd);
    if (one) {
        count(set, one, -1);
        memmove(one, one + 1, (size_t)(&set->of[set->n] - one - 1) * sizeof *one);
        set->n--;
    }
}

void sk_poll_is_stream_now(int fd)
{
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < n_places; i++) {
        struct set *set = sets[places[i]];
        struct interest *one = find(set, fd);
        if (one && one->in_kernel) {
            sk_real()->epoll_ctl(places[i], EPOLL_CTL_DEL, fd, NULL);
            count(set, one, -1);
            one->in_kernel = false;
            count(set, one, 1);
        }
    }
    pthread_mutex_unlock(&mutex);
}

void sk_poll_forget(int fd)
{
    pthread_mutex_lock(&mutex);
    for (int i = 0; sk_fds[fd].is_watched && i < n_places; i++) {
        drop(sets[places[i]], fd);
        if (places[i] == fd) {
            free(sets[fd]->of);
            free(sets[fd]);
            sets[fd] = NULL;
            places[i--] = places[--n_places];
        }
    }
    pthread_mutex_unlock(&mutex);
}

static int change_own(int place, int operation, int fd, struct epoll_event *event)
{
    struct set *set = set_of(place);
    bool is_in = set && find(set, fd);
    if ((operation == EPOLL_CTL_ADD) == is_in) {
        errno = is_in ? EEXIST : ENOENT;
        return -1;
    }
    if (is_in)
        drop(set, fd);
    if (operation != EPOLL_CTL_DEL)
        keep(place, fd, event, false);
    return 0;
}

static int change_kernel(int place, int operation, int fd, struct epoll_event *event)
{
    int status = sk_real()->epoll_ctl(place, operation, fd, event);
    if (status == 0 && sets[place])
        drop(sets[place], fd);
    if (status == 0 && operation != EPOLL_CTL_DEL)
        keep(place, fd, event, true);
    return status;
}

SK_EXPORT int epoll_ctl(int place, int operation, int fd, struct epoll_event *event)
{
    if (!sk_self_is_there() || !is_place(place) || !is_place(fd))
        return sk_real()->epoll_ctl(place, operation, fd, event);
    pthread_mutex_lock(&mutex);
    int status = (sk_fd_is_stream(fd) ? change_own : change_kernel)(place, operation, fd, event);
    int code = errno;
    pthread_mutex_unlock(&mutex);
    errno = code;
    return status;
}

/* ---- what somebody looks for ------------------------------------------------------------------------------------- */

/* A set of epoll with room for events, or an array of poll. */
struct look {
    int place;
    struct set *set;              /* or NULL */
    struct epoll_event *events;
    int most;
    struct pollfd *fds;           /* or NULL */
    nfds_t n;
    bool ignores_room;            /* it was told of room again and again, and wrote nothing */
    bool has_readable;            /* found by the last collect */
    bool is_one_of_several;       /* what comes for another set ends the wait too: the caller asks that one next */
    bool accepts;                 /* a new connection may be what is waited for */
    bool waits_for_accept;        /* something is there on a connection that was not accepted, or is not watched, yet */
};

static uint32_t wanted_of(const struct look *look, int fd, uint64_t *data)
{
    if (look->set) {
        const struct interest *one = find(look->set, fd);
        *data = one ? one->event.data.u64 : 0;
        return one && !one->in_kernel ? one->event.events : 0;
    }
    for (nfds_t i = 0; i < look->n; i++)
        if (look->fds[i].fd == fd)
            return (uint32_t)look->fds[i].events;
    return 0;
}

static bool is_there(const struct sk_message *message)
{
    return !sk_self_is_timed() || message->ready <= sk_self.at->clock;
}

/* The descriptor on which a message is read; -1: of a connection that is still to be accepted and watched. */
static int reader_of(const struct look *look, const struct sk_message *message)
{
    int fd = sk_shared->streams[message->stream].reader;
    return fd >= 0 && look->set && !sk_fds[fd].is_watched ? -1 : fd;
}

static bool has_room(int fd)
{
    sk_ps when;
    return !sk_self_is_timed() || sk_stream_has_room(sk_fds[fd].out, &when);
}

static uint32_t events_of(const struct sk_message *message, uint32_t wanted)
{
    bool ends = message->length == 0;
    return (wanted & EPOLLIN) | (ends ? wanted & EPOLLRDHUP : 0);
}

/* The messages that are there, in the order in which they came: epoll gives no more than it is asked for. */
static int collect_readable(struct look *look)
{
    int found = 0;
    uint64_t data;
    for (struct sk_message *one = sk_stream_first(); one && found < look->most; one = sk_stream_next(one)) {
        if (sk_self_is_timed() && one->ready == SK_NEVER)
            break;
        if (!is_there(one) || !sk_stream_is_first(one))
            continue;
        int fd = reader_of(look, one);
        look->waits_for_accept = look->waits_for_accept || (fd < 0 && look->accepts);
        uint32_t wanted = fd < 0 ? 0 : wanted_of(look, fd, &data), events = events_of(one, wanted);
        if (!events)
            continue;
        if (wanted & EPOLLOUT && has_room(fd))
            events |= EPOLLOUT;
        look->events[found].events = events;
        look->events[found++].data.u64 = data;
    }
    return found;
}

static bool is_collected(const struct look *look, int found, uint64_t data)
{
    for (int i = 0; i < found; i++)
        if (look->events[i].data.u64 == data)
            return true;
    return false;
}

static int collect_set(struct look *look)
{
    int found = collect_readable(look), readable = found;
    look->has_readable = found > 0;
    for (int i = 0; look->set->n_writing > 0 && !look->ignores_room && i < look->set->n && found < look->most; i++) {
        const struct interest *one = &look->set->of[i];
        if (one->in_kernel || !(one->event.events & EPOLLOUT) || !has_room(one->fd))
            continue;
        if (!is_collected(look, readable, one->event.data.u64))
            look->events[found++] = (struct epoll_event){.events = EPOLLOUT, .data = one->event.data};
    }
    return found;
}

static int collect_fds(struct look *look)
{
    int found = 0;
    for (const struct sk_message *one = sk_stream_first(); one && look->accepts; one = sk_stream_next(one))
        look->waits_for_accept = look->waits_for_accept || (reader_of(look, one) < 0 && is_there(one));
    for (nfds_t i = 0; i < look->n; i++) {
        struct pollfd *one = &look->fds[i];
        one->revents = 0;
        if (!sk_fd_is_stream(one->fd))
            continue;
        const struct sk_message *first = sk_shared_at(sk_shared->streams[sk_fds[one->fd].in].first);
        if (first && is_there(first))
            one->revents = (short)(one->revents | (one->events & POLLIN));
        look->has_readable = look->has_readable || one->revents != 0;
        if (one->events & POLLOUT && !look->ignores_room && has_room(one->fd))
            one->revents = (short)(one->revents | POLLOUT);
        found += one->revents != 0;
    }
    return found;
}

/* What there is now; in virtual time also when there will be more, as far as is known. */
static int collect(struct look *look)
{
    pthread_mutex_lock(&mutex);
    sk_shared_lock();
    if (sk_self_is_timed())
        sk_stream_rank_arrivals();
    look->waits_for_accept = look->has_readable = false;
    int found = look->set ? collect_set(look) : look->fds ? collect_fds(look) : 0;
    sk_shared_unlock();
    pthread_mutex_unlock(&mutex);
    return found;
}

/* What the kernel has, without waiting: listening sockets, pipes of other programs. */
static int ask_kernel(struct look *look)
{
    if (look->place >= 0)
        return sk_real()->epoll_wait(look->place, look->events, look->most, 0);
    if (look->n == 0)
        return 0;
    struct pollfd *others = malloc(look->n * sizeof *others);
    if (!others)
        sk_over("no memory for poll");
    for (nfds_t i = 0; i < look->n; i++)
        others[i] = (struct pollfd){.fd = sk_fd_is_stream(look->fds[i].fd) ? -1 : look->fds[i].fd,
                                    .events = look->fds[i].events};
    int found = sk_real()->poll(others, look->n, 0);
    for (nfds_t i = 0; i < look->n; i++)
        look->fds[i].revents = others[i].revents;
    free(others);
    return found > 0 ? found : 0;
}

static bool is_wanted_anywhere(int fd)
{
    for (int i = 0; i < n_places; i++) {
        const struct interest *one = sets[places[i]]->is_asked ? find(sets[places[i]], fd) : NULL;
        if (one && one->event.events & EPOLLIN)
            return true;
    }
    return false;
}

static bool is_wanted(const struct look *look, int fd)
{
    uint64_t data;
    return look->is_one_of_several ? is_wanted_anywhere(fd) : (wanted_of(look, fd, &data) & EPOLLIN) != 0;
}

/* When there will be something, as far as is known: a message, or room for one. */
static sk_ps earliest_locked(const struct look *look)
{
    sk_ps least = SK_NEVER, when;
    for (struct sk_message *one = sk_stream_first(); one && one->arrival < least; one = sk_stream_next(one)) {
        int fd = reader_of(look, one);
        bool counts = fd < 0 ? look->accepts : is_wanted(look, fd);
        if (!sk_stream_is_first(one) || !counts)
            continue;
        when = sk_stream_earliest(one);
        least = when < least ? when : least;
    }
    for (int i = 0; look->set && look->set->n_writing > 0 && !look->ignores_room && i < look->set->n; i++)
        if (!look->set->of[i].in_kernel && look->set->of[i].event.events & EPOLLOUT) {
            sk_stream_has_room(sk_fds[look->set->of[i].fd].out, &when);
            least = when < least ? when : least;
        }
    for (nfds_t i = 0; !look->set && !look->ignores_room && i < look->n; i++)
        if (sk_fd_is_stream(look->fds[i].fd) && look->fds[i].events & POLLOUT) {
            sk_stream_has_room(sk_fds[look->fds[i].fd].out, &when);
            least = when < least ? when : least;
        }
    return least;
}

static sk_ps earliest(const struct look *look)
{
    pthread_mutex_lock(&mutex);
    sk_shared_lock();
    sk_ps found = earliest_locked(look);
    sk_shared_unlock();
    pthread_mutex_unlock(&mutex);
    return found;
}

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

/* Gives up the turn until there is something, the deadline, or nobody has anything to do. Returns whether the caller must look
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
        if (found > 0) { /* the time goes on for a library that wants to know of room although it has nothing to write */
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
        sk_over("a thread other than that which called MPI_Init waits for connections of the MPI library; switch off its "
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
SK_EXPORT int epoll_pwait2(int place, struct epoll_event *events, int most, const struct timespec *timeout, const sigset_t *mask);

SK_EXPORT int epoll_pwait2(int place, struct epoll_event *events, int most, const struct timespec *timeout, const sigset_t *mask)
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

/* Nothing of the launch is among the descriptors: the kernel is asked first, and a wait without end goes on outside, as that of
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
