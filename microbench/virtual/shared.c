#define _GNU_SOURCE
#include "virtual/shared.h"

#include "virtual/real.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct sk_shared *sk_shared;
int sk_shared_fd = -1;

enum { PREPARING = 1, READY = 2, PATIENCE_S = 30, LEAST_FD = 512, APART = 1024, PAGE = 4096 };

static const struct timespec a_moment = {0, 100000};

/* ---- the end of a launch that cannot go on ----------------------------------------------------------------------- */

static const char *const modes[] = {"not there yet", "in MPI_Init or MPI_Finalize", "in virtual time",
                                    "outside, in a call of the system", "at MPI_Finalize", "gone"};

/* The longest line of a process that is worth reading; the rest only repeats it. */
enum { MOST_LINES = 16 };

static void tell_process(int rank)
{
    const struct sk_process *one = &sk_shared->processes[rank];
    sk_ps next = sk_shared->next[rank];
    const struct sk_message *first = sk_shared_at(one->inbox);
    dprintf(2, "  process %d, %s%s%s, at %.3f us", rank, modes[one->mode], one->doing[0] ? ", in " : "", one->doing,
            1e-6 * (double)one->clock);
    if (sk_shared->turn == rank)
        dprintf(2, ", has the turn");
    else if (next == SK_NEVER)
        dprintf(2, ", waits for a message");
    else
        dprintf(2, ", goes on at %.3f us", 1e-6 * (double)next);
    if (first)
        dprintf(2, "; unread: %lld B from process %d, there at %.3f us", (long long)first->length,
                sk_shared->streams[first->stream].from, 1e-6 * (double)first->arrival);
    dprintf(2, "\n");
}

/* The rank of this process; -1 before it has its place, and in a child that it forked. */
static int own_rank(void)
{
    for (int rank = 0; sk_shared && rank < sk_shared->machine.processes; rank++)
        if (sk_shared->processes[rank].pid == getpid())
            return rank;
    return -1;
}

void sk_over(const char *why)
{
    int before = sk_shared ? __atomic_exchange_n(&sk_shared->is_over, 1, __ATOMIC_ACQ_REL) : 0;
    if (!before) {
        int rank = own_rank();
        if (rank >= 0)
            dprintf(2, "scalkit virtual time: process %d: %s.\n", rank, why);
        else
            dprintf(2, "scalkit virtual time: %s.\n", why);
        for (int other = 0; sk_shared && other < sk_shared->machine.processes && other < MOST_LINES; other++)
            tell_process(other);
    }
    _exit(SK_EXIT_OVER);
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static void prepare(const struct sk_machine *machine, uint64_t size)
{
    sk_shared->machine = *machine;
    sk_shared->top = (sizeof *sk_shared + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    sk_shared->bottom = size & ~(uint64_t)(PAGE - 1);
    sk_shared->turn = -1;
    for (int i = 0; i < machine->processes; i++)
        sk_shared->next[i] = SK_NEVER;
    __atomic_store_n(&sk_shared->state, READY, __ATOMIC_RELEASE);
}

const char *sk_shared_open(const char *path, const struct sk_machine *machine)
{
    struct stat found;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &found) != 0)
        return "SCALKIT_VIRTUAL names no memory that can be opened; its starter must still be there";
    if ((uint64_t)found.st_size < sizeof *sk_shared + (1 << 20))
        return "SCALKIT_VIRTUAL: the memory is too small";
    void *memory = mmap(NULL, (size_t)found.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (memory == MAP_FAILED)
        return "SCALKIT_VIRTUAL: the memory cannot be mapped";
    sk_shared_fd = sk_real()->fcntl(fd, F_DUPFD_CLOEXEC, LEAST_FD); /* out of the way of programs that count theirs */
    sk_real()->close(fd);
    sk_shared = memory;
    uint32_t untouched = 0;
    if (__atomic_compare_exchange_n(&sk_shared->state, &untouched, PREPARING, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        prepare(machine, (uint64_t)found.st_size);
    while (__atomic_load_n(&sk_shared->state, __ATOMIC_ACQUIRE) != READY)
        sk_real()->nanosleep(&a_moment, NULL);
    return sk_shared->machine.processes == machine->processes ? NULL : "SCALKIT_VIRTUAL belongs to another launch";
}

void sk_shared_lock(void)
{
    uint32_t free_word = 0;
    if (__atomic_compare_exchange_n(&sk_shared->lock, &free_word, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    struct timespec patience = {PATIENCE_S, 0};
    while (__atomic_exchange_n(&sk_shared->lock, 2, __ATOMIC_ACQUIRE) != 0)
        if (syscall(SYS_futex, &sk_shared->lock, FUTEX_WAIT, 2, &patience, NULL, 0) != 0 && errno == ETIMEDOUT)
            sk_over("another process ended while it held the shared memory");
}

void sk_shared_unlock(void)
{
    if (__atomic_exchange_n(&sk_shared->lock, 0, __ATOMIC_RELEASE) == 2)
        syscall(SYS_futex, &sk_shared->lock, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void *sk_shared_at(sk_at at)
{
    return at ? (char *)sk_shared + at : NULL;
}

sk_at sk_shared_place(const void *pointer)
{
    return pointer ? (sk_at)((const char *)pointer - (const char *)sk_shared) : 0;
}

/* Four classes for each doubling, from 128 bytes on: a quarter is wasted at most. */
static int class_of(uint64_t bytes, uint64_t *room)
{
    uint64_t base = 128;
    for (int doubling = 0; doubling < SK_BLOCK_CLASSES / 4; doubling++, base *= 2)
        for (int quarter = 0; quarter < 4; quarter++) {
            *room = base + base / 4 * (uint64_t)quarter;
            if (bytes <= *room)
                return 4 * doubling + quarter;
        }
    sk_over("a message is too large");
    return 0;
}

static void require_room(uint64_t room)
{
    if (sk_shared->top + room > sk_shared->bottom)
        sk_over("more bytes are on their way than the shared memory can hold; fewer processes, smaller "
                "messages, or more memory");
}

sk_at sk_shared_take(uint64_t bytes)
{
    uint64_t room;
    int class = class_of(bytes, &room);
    sk_at found = sk_shared->blocks[class];
    if (found) {
        memcpy(&sk_shared->blocks[class], sk_shared_at(found), sizeof found);
        return found;
    }
    require_room(room);
    found = sk_shared->top;
    sk_shared->top += room;
    return found;
}

void sk_shared_give(sk_at block, uint64_t bytes)
{
    uint64_t room;
    int class = class_of(bytes, &room);
    memcpy(sk_shared_at(block), &sk_shared->blocks[class], sizeof block);
    sk_shared->blocks[class] = block;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* One whose bytes lie apart: they stay its own when it is free. */
static struct sk_message *take_apart(int64_t length)
{
    uint64_t room;
    int class = class_of((uint64_t)length, &room);
    struct sk_message *message = sk_shared_at(sk_shared->apart[class]);
    if (message) {
        sk_shared->apart[class] = message->next;
        return message;
    }
    message = sk_shared_at(sk_shared_take(sizeof *message));
    room = (room + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    require_room(room);
    sk_shared->bottom -= room;
    message->body = sk_shared->bottom;
    return message;
}

struct sk_message *sk_shared_message(int64_t length)
{
    bool is_apart = length >= APART;
    struct sk_message *message = is_apart ? take_apart(length)
                                          : sk_shared_at(sk_shared_take(sizeof *message + (uint64_t)length));
    *message = (struct sk_message){.length = length, .body = is_apart ? message->body : 0};
    return message;
}

void sk_shared_drop(struct sk_message *message)
{
    uint64_t room;
    if (!message->body) {
        sk_shared_give(sk_shared_place(message), sizeof *message + (uint64_t)message->length);
        return;
    }
    int class = class_of((uint64_t)message->length, &room);
    message->next = sk_shared->apart[class];
    sk_shared->apart[class] = sk_shared_place(message);
}

void sk_shared_copy_in(struct sk_message *message, const struct iovec *parts, int n)
{
    if (message->body && pwritev(sk_shared_fd, parts, n, (off_t)message->body) == message->length)
        return;
    unsigned char *bytes = message->body ? sk_shared_at(message->body) : message->bytes;
    for (int i = 0; i < n; i++) {
        if (parts[i].iov_len > 0)
            memcpy(bytes, parts[i].iov_base, parts[i].iov_len);
        bytes += parts[i].iov_len;
    }
}

void sk_shared_copy_out(const struct sk_message *message, int64_t from, void *to, int64_t n)
{
    if (message->body && pread(sk_shared_fd, to, (size_t)n, (off_t)message->body + from) == n)
        return;
    const unsigned char *bytes = message->body ? sk_shared_at(message->body) : message->bytes;
    memcpy(to, bytes + from, (size_t)n);
}

/* ---- streams ----------------------------------------------------------------------------------------------------- */

uint32_t sk_shared_stream(uint64_t key)
{
    uint32_t at = (uint32_t)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 45) % SK_STREAMS;
    for (uint32_t tried = 0; tried < SK_STREAMS; tried++, at = (at + 1) % SK_STREAMS) {
        struct sk_stream *stream = &sk_shared->streams[at];
        if (stream->key == 0)
            *stream = (struct sk_stream){.key = key, .from = -1, .to = -1, .reader = -1};
        if (stream->key == key)
            return at;
    }
    sk_over("too many connections");
    return 0;
}
