#define _GNU_SOURCE
#include "trace/stack.h"

#include "trace/define.h"
#include "trace/map.h"
#include "trace/symbols.h"

#include <execinfo.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64, OWN = 8 }; /* frames of the program, and at most so many of the recorder */

bool sk_stack_is_on;

static bool unwinds; /* with the tables of the compiler, not by frame pointers */
static struct sk_map known;

void sk_stack_begin(void)
{
    const char *given = getenv("SCALKIT_TRACE_STACKS");
    sk_stack_is_on = given && *given;
    unwinds = sk_stack_is_on && strcmp(given, "unwind") == 0;
}

#ifndef SK_SIMULATED
/* Returns the end of the stack of this thread; NULL if a frame is elsewhere, as those of coroutines are. */
static const char *end_of_stack(const void *frame)
{
    static __thread const char *begin, *end;
    pthread_attr_t attributes;
    void *lowest;
    size_t bytes;
    if (!end && pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &lowest, &bytes);
        pthread_attr_destroy(&attributes);
        begin = lowest;
        end = begin + bytes;
    }
    return begin <= (const char *)frame && (const char *)frame < end ? end : NULL;
}

/* A frame begins with the address of the next one, which lies farther out, and the address that it returns to. What a
 * program without frame pointers keeps in their place leads nowhere, or to a frame that is farther out. */
__attribute__((no_sanitize("address", "undefined"))) static int follow(void **found)
{
    struct frame { const struct frame *outer; void *back; };
    const struct frame *frame = __builtin_frame_address(0);
    const char *end = end_of_stack(frame);
    int n = 0;
    while (end && n < DEEPEST + OWN) {
        found[n++] = frame->back;
        const struct frame *outer = frame->outer;
        if (outer <= frame || (uintptr_t)outer % sizeof(void *) || (const char *)(outer + 1) > end)
            break;
        frame = outer;
    }
    return n;
}

static uint64_t hash(void *const *frames, int n)
{
    uint64_t h = 1469598103934665603u;
    for (int k = 0; k < n; k++)
        h = (h ^ (uint64_t)(uintptr_t)frames[k]) * UINT64_C(0x9E3779B97F4A7C15), h ^= h >> 31;
    return h;
}

/* Adds the functions that the frames return to, from the last one, the outermost, on; what lies around main is left
 * out. */
static uint32_t define(uint32_t parent, void *const *frames, int n)
{
    char text[320];
    const char *names[DEEPEST + OWN];
    int used = 0;
    for (; used < n && used < DEEPEST; used++) {
        sk_symbols_describe((const char *)frames[used] - 1, text, sizeof text - 2);
        char *offset = strrchr(text, '+');
        if (!offset)
            break;
        strcpy(offset, "()");
        names[used] = strdup(text);
        if (!names[used])
            abort();
        if (strcmp(text, "main()") == 0 || strcmp(text, "MAIN__()") == 0) {
            used++;
            break;
        }
    }
    while (used > 0) {
        parent = sk_define_path(parent, sk_define_region(names[--used]), NULL);
        free((void *)(uintptr_t)names[used]);
    }
    return parent;
}

uint32_t sk_stack_path(uint32_t parent, uint32_t function, const void *site)
{
    void *found[DEEPEST + OWN];
    int n = unwinds ? backtrace(found, DEEPEST + OWN) : follow(found), first = 0;
    while (first < n && found[first] != site)
        first++;
    if (!site || first == n)
        return sk_define_path(parent, function, site);
    uint64_t key = hash(found + first, n - first), place = (uint64_t)parent << 32 | function;
    const uint32_t *path = sk_map_find(&known, key, place);
    if (path)
        return *path;
    uint32_t made = sk_define_path(define(parent, found + first, n - first), function, site);
    sk_map_set(&known, key, place, made);
    return made;
}
#else
uint32_t sk_stack_path(uint32_t parent, uint32_t function, const void *site)
{
    return sk_define_path(parent, function, site);
}
#endif
