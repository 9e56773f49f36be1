/* Regions of a program that `scalkit measure --command` times: C and C++, with MPI or without, several threads.
 *
 *     #include <scalkit/region.h>
 *     SK_REGION_BEGIN("fft");
 *     ...
 *     SK_REGION_END("fft");
 *
 * Compile with -I"$(scalkit measure --include)"; nothing is linked. Where the environment has no SCALKIT_REGIONS, a
 * region costs one look at a variable. Where it names a folder, each process leaves a file there at its end: for each
 * thread and region the calls, the time, and of the first calls the bytes of the heap that were not given back
 * (mallinfo2 of glibc) and how far resident memory rose above its begin (Linux). In virtual time (`--clock virtual`)
 * these are the regions of the layer. A name lives until the end of the program, as text in quotes does. Define
 * SK_NO_REGIONS to leave all of this out. */
#ifndef SCALKIT_REGION_H
#define SCALKIT_REGION_H

#ifdef SK_NO_REGIONS
#define SK_REGION_BEGIN(name) ((void)0)
#define SK_REGION_END(name) ((void)0)
#else
#define SK_REGION_BEGIN(name) sk_region_begin(name)
#define SK_REGION_END(name) sk_region_end(name)

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifndef CLOCK_MONOTONIC
#error "scalkit/region.h needs POSIX: compile with -std=gnu11 or -D_GNU_SOURCE in place of a bare -std=c11"
#endif
#if defined(__GLIBC__) && (__GLIBC__ > 2 || (__GLIBC__ == 2 && __GLIBC_MINOR__ >= 33))
#include <malloc.h>
#define SK_HAS_MALLINFO2 1
#endif

#ifndef SK_REGION_MEMORY_CALLS
#define SK_REGION_MEMORY_CALLS 16 /* looking at memory takes tens of microseconds: only the first calls pay for it */
#endif
#define SK_SHARED __attribute__((weak)) /* one copy, however many files include this */

#ifdef __cplusplus
extern "C" {
#endif

SK_SHARED extern void sk_virtual_region(const char *name); /* of the layer of virtual time; not there without it */

struct sk_region {
    const char *name, *inside; /* the region that was open when this one first began; NULL if none was */
    int64_t calls, ns, begin_ns, kept, peak, heap, resident, memory_calls;
    /* how deep it is open now; whether it was ever begun inside itself, or ended without a begin */
    int open, nested, unbegun;
    struct sk_region *next, *outer; /* of the same thread; the one around it, while open */
};
struct sk_region_thread {
    struct sk_region *all, *innermost;
    struct sk_region_thread *next;
};

SK_SHARED struct sk_region_thread *sk_region_threads;
SK_SHARED int sk_region_state; /* 0 not yet known, 1 written, -1 not wanted */
SK_SHARED __thread struct sk_region_thread *sk_region_mine;

SK_SHARED int64_t sk_region_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Bytes of the heap in use; -1 where the C library does not tell. */
SK_SHARED int64_t sk_region_heap(void)
{
#ifdef SK_HAS_MALLINFO2
    struct mallinfo2 heap = mallinfo2();
    return (int64_t)(heap.uordblks + heap.hblkhd);
#else
    return -1;
#endif
}

/* The value in bytes of a line of /proc/self/status, as "VmHWM:"; -1 if there is none. */
SK_SHARED int64_t sk_region_status(const char *key)
{
    char line[256];
    long long kib = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && kib < 0 && fgets(line, sizeof line, status))
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), "%lld", &kib);
    if (status)
        fclose(status);
    return kib < 0 ? -1 : kib * 1024;
}

/* Lets the kernel forget the highest resident memory so far, and returns what is resident; -1 if it does not let us. */
SK_SHARED int64_t sk_region_forget_peak(void)
{
    FILE *refs = fopen("/proc/self/clear_refs", "w");
    int is_done = refs && fputs("5", refs) >= 0;
    is_done = refs && fclose(refs) == 0 && is_done;
    return is_done ? sk_region_status("VmRSS:") : -1;
}

SK_SHARED void sk_region_text(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\' || (unsigned char)*text < 32)
            fprintf(out, "\\u%04x", (unsigned char)*text);
        else
            fputc(*text, out);
    fputc('"', out);
}

SK_SHARED void sk_region_write(void)
{
    const char *folder = getenv("SCALKIT_REGIONS");
    char host[128] = "", path[4096];
    if (!folder)
        return;
    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "%s/%s-%ld.jsonl", folder, host, (long)getpid());
    FILE *out = fopen(path, "a"); /* a library of its own copy adds its lines */
    if (!out)
        return;
    for (struct sk_region_thread *thread = sk_region_threads; thread; thread = thread->next)
        for (struct sk_region *one = thread->all; one; one = one->next) {
            fprintf(out, "{\"name\": ");
            sk_region_text(out, one->name);
            fprintf(out, ", \"thread\": \"%p\", \"calls\": %lld, \"ns\": %lld, \"open\": %d", (void *)thread,
                    (long long)one->calls, (long long)one->ns, one->open);
            fprintf(out, ", \"nested\": %d, \"unbegun\": %d, \"memory_calls\": %lld, \"kept\": %lld, \"peak\": %lld",
                    one->nested, one->unbegun, (long long)one->memory_calls, (long long)one->kept,
                    (long long)one->peak);
            fprintf(out, ", \"inside\": ");
            if (one->inside)
                sk_region_text(out, one->inside);
            else
                fprintf(out, "null");
            fprintf(out, "}\n");
        }
    fclose(out);
}

/* Returns the region of this thread, made at its first use; NULL where nothing is to be measured. */
SK_SHARED struct sk_region *sk_region_find(const char *name)
{
    if (!sk_region_state) {
        const char *folder = getenv("SCALKIT_REGIONS");
        int unknown = 0, wanted = folder && *folder ? 1 : -1;
        if (__atomic_compare_exchange_n(&sk_region_state, &unknown, wanted, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
            wanted == 1)
            atexit(sk_region_write);
    }
    if (sk_region_state < 0)
        return NULL;
    if (!sk_region_mine) {
        sk_region_mine = (struct sk_region_thread *)calloc(1, sizeof *sk_region_mine);
        if (!sk_region_mine)
            return NULL;
        sk_region_mine->next = __atomic_load_n(&sk_region_threads, __ATOMIC_SEQ_CST);
        while (!__atomic_compare_exchange_n(&sk_region_threads, &sk_region_mine->next, sk_region_mine, 0,
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            ;
    }
    struct sk_region *one = sk_region_mine->all;
    while (one && strcmp(one->name, name) != 0)
        one = one->next;
    if (!one && (one = (struct sk_region *)calloc(1, sizeof *one))) {
        one->name = name;
        one->peak = -1;
        one->inside = sk_region_mine->innermost ? sk_region_mine->innermost->name : NULL;
        one->next = sk_region_mine->all;
        sk_region_mine->all = one;
    }
    return one;
}

SK_SHARED void sk_region_begin(const char *name)
{
    if (sk_virtual_region)
        sk_virtual_region(name);
    struct sk_region *one = sk_region_find(name);
    if (!one)
        return;
    if (one->open++) {
        one->nested = 1;
        return;
    }
    one->resident = -1;
    if (one->calls < SK_REGION_MEMORY_CALLS) {
        if (!sk_region_mine->innermost)
            one->resident = sk_region_forget_peak(); /* an inner region would forget the peak of the outer one */
        one->heap = sk_region_heap();
    }
    one->outer = sk_region_mine->innermost;
    sk_region_mine->innermost = one;
    one->begin_ns = sk_region_now();
}

SK_SHARED void sk_region_end(const char *name)
{
    int64_t now = sk_region_now();
    if (sk_virtual_region)
        sk_virtual_region(NULL);
    struct sk_region *one = sk_region_find(name);
    if (!one)
        return;
    if (!one->open) {
        one->unbegun = 1;
        return;
    }
    if (--one->open)
        return;
    one->ns += now - one->begin_ns;
    if (one->calls++ < SK_REGION_MEMORY_CALLS && one->heap >= 0) {
        one->kept += sk_region_heap() - one->heap;
        one->memory_calls++;
        int64_t high = one->resident < 0 ? -1 : sk_region_status("VmHWM:") - one->resident;
        if (high > one->peak)
            one->peak = high;
    }
    for (struct sk_region **link = &sk_region_mine->innermost; *link; link = &(*link)->outer)
        if (*link == one) {
            *link = one->outer;
            break;
        }
}

#ifdef __cplusplus
}
#endif
#endif
#endif
