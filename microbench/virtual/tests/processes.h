/* The processes of a script: part of script.c alone. */
/* ---- processes ---------------------------------------------------------------------------------------------- */

/* Everybody listens; who has the higher rank connects. */
static void connect_all(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int32_t *ports = (int32_t *)(void *)((char *)sk_shared + PORT_AT) + 16;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    bind(listener, (struct sockaddr *)&address, length);
    listen(listener, N);
    getsockname(listener, (struct sockaddr *)&address, &length);
    __atomic_store_n(&ports[sk_self.rank], ntohs(address.sin_port), __ATOMIC_RELEASE);
    for (int other = 0; other < sk_self.rank; other++) {
        while (__atomic_load_n(&ports[other], __ATOMIC_ACQUIRE) == 0)
            usleep(100);
        address.sin_port = htons((uint16_t)ports[other]);
        to[other] = socket(AF_INET, SOCK_STREAM, 0);
        EXPECT(connect(to[other], (struct sockaddr *)&address, length), 0);
        char mine = (char)sk_self.rank;
        EXPECT(send(to[other], &mine, 1, 0), 1);
    }
    for (int i = sk_self.rank + 1; i < N; i++) {
        char theirs;
        int fd = accept(listener, NULL, NULL);
        EXPECT(recv(fd, &theirs, 1, 0), 1);
        to[(int)theirs] = fd;
    }
    set = epoll_create1(0);
    for (int other = 0; other < N; other++) {
        struct epoll_event event = {.events = EPOLLIN, .data.fd = to[other]};
        if (other != sk_self.rank)
            EXPECT(epoll_ctl(set, EPOLL_CTL_ADD, to[other], &event), 0);
    }
}

static int be_process(int script)
{
    const char *wrong = sk_self_attach();
    if (wrong) {
        fprintf(stderr, "%s\n", wrong);
        return 1;
    }
    connect_all();
    begin();
    scripts[script].run();
    sk_turn_finish();
    while (!sk_turn_all_finish())
        sk_turn_wait(SK_NEVER, true);
    sk_turn_leave();
    return 0;
}

static pid_t start(const char *program, int script, int rank)
{
    char number[16], which[16];
    pid_t child = fork();
    if (child != 0)
        return child;
    snprintf(number, sizeof number, "%d", rank);
    snprintf(which, sizeof which, "%d", script);
    setenv("SCALKIT_VIRTUAL_RANK", number, 1);
    if (script == EARLY && !freopen("/dev/null", "w", stderr))
        _exit(127);
    execl(program, program, which, (char *)NULL);
    _exit(127);
}

static bool play(const char *program, int script)
{
    int wanted[N] = {0}, ended[N] = {0};
    pid_t pids[N];
    char path[64];
    int fd = memfd_create("script", 0), bad = 0;
    if (fd < 0 || ftruncate(fd, INT64_C(1) << 30) != 0)
        return false;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", getpid(), fd);
    setenv("SCALKIT_VIRTUAL", path, 1);
    setenv("SCALKIT_VIRTUAL_MACHINE", machine, 1);
    for (int rank = 0; rank < N; rank++)
        pids[rank] = start(program, script, rank);
    for (int rank = 0; rank < N; rank++)
        wanted[rank] = script == EARLY && rank != ENDS ? SK_EXIT_OVER << 8 : 0;
    for (int k = 1; k <= N; k++) /* that which ends early is asked for last, as launchers do */
        bad += waitpid(pids[(ENDS + k) % N], &ended[(ENDS + k) % N], 0) < 0;
    for (int rank = 0; rank < N; rank++)
        bad += ended[rank] != wanted[rank];
    close(fd);
    if (bad)
        fprintf(stderr, "script '%s': %d of %d processes ended badly\n", scripts[script].name, bad, N);
    return bad == 0;
}
