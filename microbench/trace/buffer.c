#define _GNU_SOURCE
#include "trace/buffer.h"

#include "trace/now.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct column { size_t offset, bytes; };
struct flush { int64_t begin, end; uint32_t number; };
struct table { const char *name; unsigned kind, columns; const struct column *column; size_t size; };
struct file_head { char magic[8]; uint32_t location, order; };
struct head { char magic[4]; uint16_t kind, columns; uint64_t records, bytes; };

#define COLUMN(type, field) { offsetof(struct type, field), sizeof(((struct type *)0)->field) }

static const struct column call_columns[] = { COLUMN(sk_call, enter),  COLUMN(sk_call, leave), COLUMN(sk_call, number),
                                              COLUMN(sk_call, path),   COLUMN(sk_call, scope), COLUMN(sk_call, peer) };
static const struct column transfer_columns[] = { COLUMN(sk_transfer, bytes), COLUMN(sk_transfer, call),
                                                  COLUMN(sk_transfer, order), COLUMN(sk_transfer, kind),
                                                  COLUMN(sk_transfer, scope), COLUMN(sk_transfer, peer),
                                                  COLUMN(sk_transfer, tag) };
static const struct column completion_columns[] = { COLUMN(sk_completion, call), COLUMN(sk_completion, posted) };
static const struct column mark_columns[] = { COLUMN(sk_mark, time), COLUMN(sk_mark, number), COLUMN(sk_mark, path),
                                              COLUMN(sk_mark, way) };
static const struct column sample_columns[] = { COLUMN(sk_sample, local), COLUMN(sk_sample, offset),
                                                COLUMN(sk_sample, error) };
static const struct column flush_columns[] = { COLUMN(flush, begin), COLUMN(flush, end), COLUMN(flush, number) };

enum { CALLS, TRANSFERS, COMPLETIONS, MARKS, CLOCK, FLUSHES, TABLES, DEFINITIONS_KIND = 1, END_KIND = 8 };
enum { ORDER = 0x01020304 };

#define TABLE(name, kind, columns, type) \
    { name, kind, sizeof(columns) / sizeof(columns[0]), columns, sizeof(struct type) }

static const struct table tables[TABLES] = {
    TABLE("calls", 2, call_columns, sk_call),
    TABLE("transfers", 3, transfer_columns, sk_transfer),
    TABLE("completions", 4, completion_columns, sk_completion),
    TABLE("marks", 5, mark_columns, sk_mark),
    TABLE("clock", 6, sample_columns, sk_sample),
    TABLE("flushes", 7, flush_columns, flush),
};

/* Records that are in no block yet lie in a file of their own, which is mapped: whatever ends the process, the system
 * keeps it. A record counts once the number of its table says so. That number holds the epoch, too, which each writing
 * of blocks ends, so one store says that all records are in blocks, and how far these go: `base` of the epoch. */
struct live {
    char magic[8];
    uint32_t location, order;
    uint64_t room, epoch, base[2], used[TABLES];
    struct sk_open_call open;
    uint32_t failed; /* errno of the writing that was given up; then later records are nowhere */
};
enum { LIVE_BYTES = 4096 };

static struct { char *data; uint64_t written; } buffers[TABLES];
static struct live *live;
static struct sk_open_call no_call;
struct sk_open_call *sk_open_call = &no_call;
static char live_path[4096];
static char *scratch;
static size_t room, live_bytes;
static uint64_t file_bytes;
static bool is_converting;
static int file = -1, own_location;
static struct sk_definitions definitions_from;

static size_t used(int which)
{
    return (uint32_t)live->used[which];
}

static void give_up(int error)
{
    fprintf(stderr,
            "scalkit trace: location %d: the trace cannot be written: %s; what was recorded so far can be read.\n",
            own_location, strerror(error));
    live->failed = (uint32_t)error;
    if (file >= 0)
        close(file);
    file = -1;
}

static void put(const void *data, size_t bytes)
{
    const char *at = data;
    while (bytes > 0 && file >= 0) {
        ssize_t n = write(file, at, bytes);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            give_up(n < 0 ? errno : ENOSPC);
            return;
        }
        at += n;
        bytes -= (size_t)n;
        file_bytes += (uint64_t)n;
    }
}

static void put_head(unsigned kind, unsigned columns, uint64_t records, uint64_t bytes)
{
    struct head head = { { 'S', 'K', 'T', 'B' }, (uint16_t)kind, (uint16_t)columns, records, bytes };
    put(&head, sizeof head);
}

static void put_text(unsigned kind, const char *text)
{
    static const char zeros[8];
    size_t bytes = strlen(text);
    put_head(kind, 0, 1, bytes);
    put(text, bytes);
    put(zeros, (8 - bytes % 8) % 8);
}

/* Copies one column of `n` records, side by side, to `to`; returns the end, at a multiple of 8 bytes. */
static char *gather(char *to, const struct table *table, const struct column *column, const char *data, size_t n)
{
    for (size_t i = 0; i < n; i++, to += column->bytes)
        memcpy(to, data + i * table->size + column->offset, column->bytes);
    while ((to - scratch) % 8)
        *to++ = 0;
    return to;
}

static void put_table(int which)
{
    const struct table *table = &tables[which];
    char *end = scratch;
    size_t n = used(which);
    if (n == 0)
        return;
    for (unsigned k = 0; k < table->columns; k++)
        end = gather(end, table, &table->column[k], buffers[which].data, n);
    put_head(table->kind, table->columns, n, (uint64_t)(end - scratch));
    put(scratch, (size_t)(end - scratch));
    buffers[which].written += n;
}

static void put_definitions(void)
{
    const char *definitions = definitions_from.news();
    if (definitions)
        put_text(DEFINITIONS_KIND, definitions);
}

static void put_all(void)
{
    put_definitions();
    for (int which = 0; which < TABLES; which++)
        put_table(which);
    if (file < 0)
        return;
    uint64_t epoch = live->epoch + 1;
    live->base[epoch & 1] = file_bytes;
    __atomic_store_n(&live->epoch, epoch, __ATOMIC_RELEASE);
    for (int which = 0; which < TABLES; which++)
        live->used[which] = epoch << 32;
}

/* Returns where the next record goes; it is one once `commit` was called. */
static inline void *next(int which)
{
    if (file >= 0 && used(which) == room)
        sk_buffer_flush();
    if (file < 0)
        return NULL;
    return buffers[which].data + used(which) * tables[which].size;
}

static inline void commit(int which)
{
    __atomic_store_n(&live->used[which], live->used[which] + 1, __ATOMIC_RELEASE);
}

/* Maps the file of the live records, or takes memory that ends with the process where that cannot be had. */
static void *map_live(void)
{
    void *memory = MAP_FAILED;
    int kept = is_converting ? -1 : open(live_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (kept >= 0 && posix_fallocate(kept, 0, (off_t)live_bytes) == 0)
        memory = mmap(NULL, live_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kept, 0);
    if (kept >= 0)
        close(kept);
    if (memory == MAP_FAILED && !is_converting) {
        unlink(live_path);
        fprintf(stderr,
                "scalkit trace: location %d: no file can be mapped there; of a program that is killed, records that "
                "are in memory are lost.\n", own_location);
    }
    if (memory == MAP_FAILED)
        memory = mmap(NULL, live_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static bool open_live(int location)
{
    size_t at = LIVE_BYTES;
    live_bytes = LIVE_BYTES;
    for (int which = 0; which < TABLES; which++)
        live_bytes += room * tables[which].size;
    live = map_live();
    if (!live)
        return false;
    memset(live, 0, live_bytes); /* its pages are there before they are timed */
    for (int which = 0; which < TABLES; at += room * tables[which++].size)
        buffers[which].data = (char *)live + at;
    *live = (struct live){ "SKTLIVE", (uint32_t)location, ORDER, room, 0,
            { sizeof(struct file_head) }, { 0 }, { 0, 0 }, 0 };
    sk_open_call = &live->open;
    live->magic[7] = '1';
    return true;
}

bool sk_buffer_open(const char *folder, int location, size_t records, struct sk_definitions from)
{
    char path[4096];
    struct file_head head = { "SKTRACE", (uint32_t)location, ORDER };
    head.magic[7] = '1';
    own_location = location;
    definitions_from = from;
    room = records < 16 ? 16 : records;
    snprintf(path, sizeof path, "%s/%06d.sktrace", folder, location);
    snprintf(live_path, sizeof live_path, "%s/%06d.live", folder, location);
    scratch = calloc(room + 1, sizeof(struct sk_transfer) + 32);
    bool ok = scratch && open_live(location);
    file_bytes = 0;
    file = ok ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644) : -1;
    if (file < 0) {
        fprintf(stderr, "scalkit trace: cannot record to %s: %s; set SCALKIT_TRACE to a folder that can be written.\n",
                path, ok ? strerror(errno) : "too little memory");
        return false;
    }
    put(&head, sizeof head);
    return true;
}

void sk_buffer_call(const struct sk_call *call)
{
    struct sk_call *to = next(CALLS);
    if (!to)
        return;
    *to = *call;
    commit(CALLS);
}

void sk_buffer_transfer(const struct sk_transfer *transfer)
{
    struct sk_transfer *to = next(TRANSFERS);
    if (!to)
        return;
    *to = *transfer;
    commit(TRANSFERS);
}

void sk_buffer_completion(uint32_t call, uint32_t posted)
{
    struct sk_completion *to = next(COMPLETIONS);
    if (!to)
        return;
    *to = (struct sk_completion){ call, posted };
    commit(COMPLETIONS);
}

void sk_buffer_mark(const struct sk_mark *mark)
{
    struct sk_mark *to = next(MARKS);
    if (!to)
        return;
    *to = *mark;
    commit(MARKS);
}

void sk_buffer_sample(const struct sk_sample *sample)
{
    struct sk_sample *to = next(CLOCK);
    if (!to)
        return;
    *to = *sample;
    commit(CLOCK);
}

static void note_flush(struct flush *flush)
{
    flush->end = sk_now();
    struct flush *to = is_converting ? NULL : next(FLUSHES);
    if (!to)
        return;
    *to = *flush;
    commit(FLUSHES);
}

void sk_buffer_flush(void)
{
    struct flush flush = { .begin = sk_now(), .number = definitions_from.next_number() };
    if (file < 0)
        return;
    put_all();
    note_flush(&flush);
}

void sk_buffer_define(void)
{
    struct flush flush = { .begin = sk_now(), .number = definitions_from.next_number() };
    if (file < 0)
        return;
    put_definitions();
    note_flush(&flush);
}

void sk_buffer_convert(void)
{
    is_converting = true;
}

static void forget(void)
{
    if (file >= 0)
        close(file);
    file = -1;
    for (int which = 0; which < TABLES; which++)
        buffers[which].written = 0;
    if (live)
        munmap(live, live_bytes);
    live = NULL;
    sk_open_call = &no_call;
    free(scratch);
    scratch = NULL;
}

void sk_buffer_abandon(void)
{
    if (file < 0)
        return;
    put_all();
    forget();
}

void sk_buffer_close(void)
{
    char text[512];
    int at = snprintf(text, sizeof text, "{\"records\": {");
    if (file < 0)
        return;
    put_all();
    for (int which = 0; which < TABLES; which++)
        at += snprintf(text + at, sizeof text - (size_t)at, "%s\"%s\": %llu", which ? ", " : "", tables[which].name,
                       (unsigned long long)buffers[which].written);
    snprintf(text + at, sizeof text - (size_t)at, "}}");
    put_text(END_KIND, text);
    if (file >= 0)
        unlink(live_path);
    forget();
}
