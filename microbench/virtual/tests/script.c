/* The layer without MPI: processes on one host, their connections, and scripts whose times are known. Each process
 * of a script is this program again. Prints one line, or what differs, and ends with 1. */
#define _GNU_SOURCE
#include "virtual/shared.h"
#include "virtual/stream.h"
#include "virtual/turn.h"
#include "virtual/zero.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { L = 2000, O = 500, GAP = 300, N = 3, BYTES = 1000, PORT_AT = 16 << 20, ENDS = 1 };

static const char machine[] = "processes=3 L=2000 o=500 g=300 G=0.1 check=1 stall=5";
static int to[N], set; /* connections to the others, blocking */

#define EXPECT(found, wanted) expect(#found, (int64_t)(found), (int64_t)(wanted), __LINE__)

static void expect(const char *what, int64_t found, int64_t wanted, int line)
{
    if (found == wanted)
        return;
    fprintf(stderr, "script.c:%d: process %d: %s is %lld, not %lld\n", line, sk_self.rank, what, (long long)found,
            (long long)wanted);
    _exit(1);
}

static int64_t now(void)
{
    return sk_self.at->clock / SK_PS_OF_NS;
}

static void say(int other, int bytes)
{
    static char message[1 << 20];
    EXPECT(send(to[other], message, (size_t)bytes, 0), bytes);
}

static void hear(int other, int bytes)
{
    static char message[1 << 20];
    for (int left = bytes; left > 0;)
        left -= (int)read(to[other], message, (size_t)left);
}

static void begin(void)
{
    sk_turn_join();
    while (!sk_turn_all_joined())
        usleep(100);
    sk_turn_begin();
}

/* ---- scripts: 1000 bytes last 100 ns on the network --------------------------------------------------------- */

static void one_message(void)
{
    if (sk_self.rank == 1) {
        say(0, BYTES);
        EXPECT(now(), O);
    } else if (sk_self.rank == 0) {
        hear(1, BYTES);
        EXPECT(now(), 2 * O + L + 100);
    }
}

static void two_in_a_row(void)
{
    if (sk_self.rank == 1) {
        say(0, BYTES);
        say(0, BYTES);
        EXPECT(now(), 2 * O);
    } else if (sk_self.rank == 0) {
        hear(1, 2 * BYTES);
        EXPECT(now(), 3 * O + L + 100); /* the overhead is more than the gap */
    }
}

static void two_at_once(void)
{
    if (sk_self.rank > 0) {
        say(0, 10 * BYTES);
    } else {
        hear(1, 10 * BYTES);
        hear(2, 10 * BYTES);
        EXPECT(now(), O + L + 1000 + GAP + 1000 + O); /* the second waits for the card of the receiver */
    }
}

static void ping_pong(void)
{
    for (int i = 0; i < 100 && sk_self.rank < 2; i++) {
        if (sk_self.rank == 0)
            say(1, BYTES);
        hear(1 - sk_self.rank, BYTES);
        if (sk_self.rank == 1)
            say(0, BYTES);
    }
    if (sk_self.rank == 0)
        EXPECT(now(), 200 * (2 * O + L + 100));
}

static void sleeping(void)
{
    struct timespec t, wanted = {0, 50000};
    int64_t base = 0;
    clock_gettime(CLOCK_MONOTONIC, &t);
    base = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
    nanosleep(&wanted, NULL);
    usleep(50);
    EXPECT(poll(NULL, 0, 1), 0);
    struct timeval more = {0, 100};
    EXPECT(select(0, NULL, NULL, NULL, &more), 0);
    clock_gettime(CLOCK_MONOTONIC, &t);
    EXPECT((int64_t)t.tv_sec * 1000000000 + t.tv_nsec - base, 50000 + 50000 + 1000000 + 100000);
    EXPECT(now(), 1200000);
}

static void a_long_wait(void)
{
    struct timeval long_time = {.tv_sec = INT64_MAX / 1000};
    if (sk_self.rank == 1) {
        EXPECT(sleep(50 * 24 * 3600), 0);
        say(0, BYTES);
    } else if (sk_self.rank == 0) {
        fd_set one;
        FD_ZERO(&one);
        FD_SET(to[1], &one);
        EXPECT(select(to[1] + 1, &one, NULL, NULL, &long_time), 1);
        EXPECT(now(), INT64_C(50) * 24 * 3600 * 1000000000 + O + L + 100);
        hear(1, BYTES);
    }
}

static void a_pipe(void)
{
    int ends[2];
    char byte = 1;
    struct pollfd one = {.events = POLLIN};
    if (sk_self.rank != 0 || pipe(ends) != 0)
        return;
    one.fd = ends[0];
    EXPECT(poll(&one, 1, 0), 0);
    EXPECT(poll(&one, 1, 1), 0);
    EXPECT(write(ends[1], &byte, 1), 1);
    EXPECT(poll(&one, 1, 0), 1);
    EXPECT(one.revents, POLLIN);
    EXPECT(poll(&one, 1, -1), 1);
    EXPECT(now(), 1000000);
}

static void waiting_in_sets(void)
{
    struct epoll_event events[4];
    struct timespec wanted = {0, 10000};
    if (sk_self.rank > 0) {
        nanosleep(&wanted, NULL);
        say(0, BYTES * sk_self.rank);
        return;
    }
    EXPECT(epoll_wait(set, events, 4, 0), 0);
    EXPECT(now(), 0);
    EXPECT(epoll_wait(set, events, 4, -1), 1); /* the shorter message is first */
    EXPECT(events[0].data.fd, to[1]);
    EXPECT(now(), 10000 + O + L + 100);
    hear(1, BYTES);
    struct pollfd one = {.fd = to[2], .events = POLLIN | POLLOUT};
    EXPECT(poll(&one, 1, -1), 1);
    EXPECT(one.revents, POLLOUT);
    one.events = POLLIN;
    EXPECT(poll(&one, 1, -1), 1);
    hear(2, 2 * BYTES);
    EXPECT(now(), 10000 + O + L + 100 + O + O); /* it came while the first one was read */
}

/* Who sleeps between two looks does not wait: the clock goes on by the sleeps alone. */
static void looking_and_sleeping(void)
{
    struct epoll_event event;
    struct timespec wanted = {0, 105000};
    int looks = 1;
    if (sk_self.rank == 1) {
        nanosleep(&wanted, NULL);
        say(0, BYTES);
    } else if (sk_self.rank == 0) {
        for (; epoll_wait(set, &event, 1, 0) == 0; looks++)
            usleep(10);
        EXPECT(looks, 12);
        EXPECT(now(), 110000);
        hear(1, BYTES);
    }
}

static void long_messages(void)
{
    static unsigned char out[100000], in[100000];
    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (unsigned char)(i % 251);
    struct iovec parts[] = {{in, 7}, {in + 7, 40000}, {in + 40007, 60000}};
    for (int i = 0; i < 5 && sk_self.rank == 1; i++)
        EXPECT(send(to[0], out, sizeof out, 0), sizeof out);
    for (int i = 0; i < 5 && sk_self.rank == 0; i++) {
        memset(in, 0, sizeof in);
        EXPECT(recv(to[1], in, 100, MSG_PEEK), 100);
        EXPECT(memcmp(in, out, 100), 0);
        EXPECT(readv(to[1], parts, 3), sizeof in);
        EXPECT(memcmp(in, out, 100000), 0);
        EXPECT(in[99999], 99999 % 251);
        EXPECT(close(sk_shared_fd), -1);
    }
}

/* Given back to the system, pages are zero, and those of others are left alone. */
static void clearing(void)
{
    size_t bytes = 3 << 20;
    char *begin, *end, *mine = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(mine, 1, bytes);
    EXPECT(sk_zero_pages(mine + 100, bytes - 200, &begin, &end), true);
    EXPECT(begin - mine, 4096);
    EXPECT(end - mine, bytes - 4096);
    EXPECT(mine[4095] + mine[4096] + mine[bytes - 4097] + mine[bytes - 4096], 2);
    char *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(shared, 1, bytes);
    EXPECT(sk_zero_pages(shared, bytes, &begin, &end), false);
    EXPECT(shared[bytes / 2], 1);
}

static void peeking(void)
{
    char some[BYTES];
    if (sk_self.rank == 1)
        say(0, BYTES);
    if (sk_self.rank != 0)
        return;
    EXPECT(recv(to[1], some, 10, MSG_PEEK), 10);
    EXPECT(now(), O + L + 100);
    EXPECT(recv(to[1], some, 400, 0), 400);
    EXPECT(recv(to[1], some, sizeof some, 0), 600);
    EXPECT(now(), O + L + 100 + O);
    EXPECT(recv(to[1], some, sizeof some, MSG_DONTWAIT), -1);
    EXPECT(errno, EAGAIN);
}

static void a_full_card(void)
{
    int refused = 0;
    static char message[1 << 20];
    if (sk_self.rank == 1)
        for (int i = 0; i < 8; i++) {
            while (send(to[0], message, sizeof message, MSG_DONTWAIT) < 0) {
                struct pollfd one = {.fd = to[0], .events = POLLOUT};
                refused++;
                EXPECT(poll(&one, 1, -1), 1);
            }
        }
    while (sk_self.rank == 1 && send(to[0], message, 1000, MSG_DONTWAIT) < 0) {
        /* without a look at anything else in between */
    }
    if (sk_self.rank == 0)
        hear(1, 8 * (int)sizeof message + 1000);
    if (sk_self.rank == 1)
        EXPECT(refused > 0, true);
}

static void an_end(void)
{
    char byte;
    if (sk_self.rank == 1) {
        say(0, 1);
        close(to[0]);
    } else if (sk_self.rank == 0) {
        EXPECT(read(to[1], &byte, 1), 1);
        EXPECT(read(to[1], &byte, 1), 0);
        EXPECT(send(to[1], &byte, 1, MSG_NOSIGNAL), -1);
        EXPECT(errno, EPIPE);
    }
}

static void a_copy(void)
{
    if (sk_self.rank == 1) {
        int copy = dup(to[0]);
        close(to[0]);
        to[0] = copy;
        say(0, BYTES);
    } else if (sk_self.rank == 0) {
        int status;
        pid_t child = fork();
        if (child == 0)
            _exit(close(to[1])); /* a child closes what it has inherited: that is nothing to the parent */
        EXPECT(waitpid(child, &status, 0), child);
        hear(1, BYTES);
        EXPECT(now(), 2 * O + L + 100);
    }
}

#include "listeners.h"

/* One process ends without MPI_Finalize, and nobody asks for its status: the others say so and end, too. */
static void an_early_end(void)
{
    if (sk_self.rank == ENDS)
        _exit(0);
    hear(ENDS, BYTES);
}

static const struct { const char *name; void (*run)(void); } scripts[] = {
    {"one message", one_message}, {"two in a row", two_in_a_row}, {"two at once", two_at_once},
    {"ping pong", ping_pong},
    {"sleeping", sleeping}, {"a long wait", a_long_wait}, {"a pipe", a_pipe}, {"waiting in sets", waiting_in_sets},
    {"looking and sleeping", looking_and_sleeping}, {"long messages", long_messages}, {"clearing", clearing},
    {"peeking", peeking}, {"a full card", a_full_card}, {"an end", an_end}, {"a copy", a_copy},
    {"a late connection", a_late_connection}, {"one port of two addresses", one_port_of_two_addresses},
    {"an early end", an_early_end}};
enum { SCRIPTS = sizeof scripts / sizeof *scripts, EARLY = SCRIPTS - 1 };

#include "processes.h"

int main(int argc, char **argv)
{
    if (argc > 1)
        return be_process(atoi(argv[1]));
    for (int script = 0; script < SCRIPTS; script++)
        if (!play(argv[0], script))
            return 1;
    printf("virtual: %d scripts without MPI\n", SCRIPTS);
    return 0;
}
