/* The sets of epoll of this process, told apart from the kernel's: part of poll.c alone. */
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
/* Over the sets: a library may accept in a thread of its own. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

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
    int *at = &sk_fds[fd].at;
    if (*at < set->n && set->of[*at].fd == fd)
        return &set->of[*at];
    for (*at = 0; *at < set->n; ++*at)
        if (set->of[*at].fd == fd)
            return &set->of[*at];
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
