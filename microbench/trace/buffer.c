#define _GNU_SOURCE
#include "trace/buffer.h"

#include "trace/news.h"
#include "trace/now.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct column { size_t offset, bytes; };
struct flush { int64_t begin, end; uint32_t number; };
struct table { const char *name; unsigned kind, columns; const struct column *column; size_t size; };
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

static struct { char *data; size_t used; uint64_t written; } buffers[TABLES];
static char *scratch;
static size_t room;
static bool is_converting;
static int file = -1;
static volatile sig_atomic_t is_writing;

static void give_up(const char *why)
{
    fprintf(stderr, "scalkit trace: location %d: %s; what is written so far can be read.\n", sk_define_location(), why);
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
            give_up(strerror(errno));
            return;
        }
        at += n;
        bytes -= (size_t)n;
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
    if (buffers[which].used == 0)
        return;
    for (unsigned k = 0; k < table->columns; k++)
        end = gather(end, table, &table->column[k], buffers[which].data, buffers[which].used);
    put_head(table->kind, table->columns, buffers[which].used, (uint64_t)(end - scratch));
    put(scratch, (size_t)(end - scratch));
    buffers[which].written += buffers[which].used;
    buffers[which].used = 0;
}

static void put_definitions(void)
{
    const char *definitions = sk_define_news();
    if (definitions)
        put_text(DEFINITIONS_KIND, definitions);
}

/* A signal that asks the program to end waits until all is written. */
static void put_all(void)
{
    static const int broken[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS };
    sigset_t later, blocked;
    sigfillset(&later);
    for (size_t k = 0; k < sizeof broken / sizeof broken[0]; k++)
        sigdelset(&later, broken[k]);
    pthread_sigmask(SIG_BLOCK, &later, &blocked);
    is_writing = 1;
    put_definitions();
    for (int which = 0; which < TABLES; which++)
        put_table(which);
    is_writing = 0;
    pthread_sigmask(SIG_SETMASK, &blocked, NULL);
}

void sk_buffer_rescue(void)
{
    if (file < 0 || is_writing)
        return;
    is_writing = 1;
    for (int which = 0; which < TABLES; which++)
        put_table(which);
    put_definitions();
    is_writing = 0;
}

static void *next(int which)
{
    if (file < 0)
        return NULL;
    if (buffers[which].used == room)
        sk_buffer_flush();
    return buffers[which].data + buffers[which].used++ * tables[which].size;
}

bool sk_buffer_open(const char *folder, int location, size_t records)
{
    char path[4096];
    struct { char magic[8]; uint32_t location, order; } head = { "SKTRACE", (uint32_t)location, 0x01020304 };
    head.magic[7] = '1';
    room = records < 16 ? 16 : records;
    scratch = malloc(room * sizeof(struct sk_call) + 64);
    bool ok = scratch != NULL;
    for (int which = 0; which < TABLES; which++) {
        buffers[which].data = malloc(room * tables[which].size);
        ok = ok && buffers[which].data;
        if (buffers[which].data)
            memset(buffers[which].data, 0, room * tables[which].size); /* its pages are there before they are timed */
    }
    if (ok)
        memset(scratch, 0, room * sizeof(struct sk_call) + 64);
    snprintf(path, sizeof path, "%s/%06d.sktrace", folder, location);
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
    if (to)
        *to = *call;
}

void sk_buffer_transfer(const struct sk_transfer *transfer)
{
    struct sk_transfer *to = next(TRANSFERS);
    if (to)
        *to = *transfer;
}

void sk_buffer_completion(uint32_t call, uint32_t posted)
{
    struct sk_completion *to = next(COMPLETIONS);
    if (to)
        *to = (struct sk_completion){ call, posted };
}

void sk_buffer_mark(const struct sk_mark *mark)
{
    struct sk_mark *to = next(MARKS);
    if (to)
        *to = *mark;
}

void sk_buffer_sample(const struct sk_sample *sample)
{
    struct sk_sample *to = next(CLOCK);
    if (to)
        *to = *sample;
}

void sk_buffer_flush(void)
{
    struct flush flush = { .begin = sk_now(), .number = sk_define_next_number() };
    if (file < 0)
        return;
    put_all();
    flush.end = sk_now();
    if (file >= 0 && !is_converting)
        ((struct flush *)(void *)buffers[FLUSHES].data)[buffers[FLUSHES].used++] = flush;
}

void sk_buffer_convert(void)
{
    is_converting = true;
}

static void forget(void)
{
    for (int which = 0; which < TABLES; which++) {
        free(buffers[which].data);
        buffers[which].data = NULL;
        buffers[which].used = buffers[which].written = 0;
    }
    free(scratch);
    scratch = NULL;
}

void sk_buffer_abandon(void)
{
    if (file < 0)
        return;
    put_all();
    if (file >= 0)
        close(file);
    file = -1;
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
        close(file);
    file = -1;
    forget();
}
