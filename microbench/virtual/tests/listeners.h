/* Scripts of script.c in which a process listens for connections. */

static void a_late_connection(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int32_t *port = (int32_t *)(void *)((char *)sk_shared + PORT_AT);
    if (sk_self.rank == 0) {
        int listener = socket(AF_INET, SOCK_STREAM, 0);
        bind(listener, (struct sockaddr *)&address, length);
        listen(listener, 4);
        getsockname(listener, (struct sockaddr *)&address, &length);
        *port = ntohs(address.sin_port);
        struct pollfd one = {.fd = listener, .events = POLLIN};
        EXPECT(poll(&one, 1, -1), 1);
        EXPECT(now(), 1000 + O + L);
        to[1] = accept(listener, NULL, NULL);
        hear(1, BYTES);
        EXPECT(now(), 1000 + 2 * O + L + 100);
    } else if (sk_self.rank == 1) {
        struct timespec wanted = {0, 1000};
        nanosleep(&wanted, NULL);
        to[0] = socket(AF_INET, SOCK_STREAM, 0);
        address.sin_port = htons((uint16_t)*port);
        EXPECT(connect(to[0], (struct sockaddr *)&address, length), 0);
        say(0, BYTES);
    }
}

static int listen_at(const char *host, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    inet_pton(AF_INET, host, &address.sin_addr);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    EXPECT(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    listen(listener, 4);
    return listener;
}

static void be_called(int listener)
{
    struct pollfd one = {.fd = listener, .events = POLLIN};
    EXPECT(poll(&one, 1, -1), 1);
    to[2] = accept(listener, NULL, NULL);
    hear(2, BYTES);
    EXPECT(now(), 2000 + (sk_self.rank + 2) * O + 100 + sk_self.rank * GAP + L); /* the second waits for the gap */
}

/* The kernel gives the same port to two processes that listen on different addresses of a host. */
static void one_port_of_two_addresses(void)
{
    int32_t *port = (int32_t *)(void *)((char *)sk_shared + PORT_AT);
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    if (sk_self.rank == 0) {
        int listener = listen_at("127.0.0.1", 0);
        getsockname(listener, (struct sockaddr *)&address, &length);
        *port = ntohs(address.sin_port);
        be_called(listener);
    } else {
        struct timespec wanted = {0, 1000 * sk_self.rank};
        nanosleep(&wanted, NULL);
        address.sin_port = htons((uint16_t)*port);
    }
    if (sk_self.rank == 1)
        be_called(listen_at("127.0.0.2", *port));
    for (int other = 0; other < 2 && sk_self.rank == 2; other++) {
        inet_pton(AF_INET, other == 0 ? "127.0.0.1" : "127.0.0.2", &address.sin_addr);
        to[other] = socket(AF_INET, SOCK_STREAM, 0);
        EXPECT(connect(to[other], (struct sockaddr *)&address, length), 0);
        say(other, BYTES);
    }
}
