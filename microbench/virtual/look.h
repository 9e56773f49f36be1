/* What somebody who waits looks for, and what there is of it: part of poll.c alone. */
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
