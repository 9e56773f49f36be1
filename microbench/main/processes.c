#include "main/processes.h"

#include "base/alloc.h"

#include <stdlib.h>

/* Room for one more `wanted` values, at least doubled. */
static int64_t *with_room(int64_t *values, size_t *room, size_t wanted)
{
    if (wanted <= *room)
        return values;
    size_t before = *room;
    *room = wanted > 2 * before ? wanted : 2 * before;
    return sk_grow(values, before * sizeof *values, *room * sizeof *values);
}

void sk_processes_free(struct sk_processes *processes)
{
    sk_free(processes->root_ns);
    sk_free(processes->each_ns);
}

void sk_processes_begin(struct sk_processes *processes)
{
    processes->n = 0;
    processes->kept_before = processes->kept;
}

/* A value that does not count is kept as its complement, which is negative. */
static int64_t marked(int64_t value, bool counts)
{
    return counts ? value : ~value;
}

static int64_t plain(int64_t value)
{
    return value < 0 ? ~value : value;
}

void sk_processes_add(struct sk_processes *processes, const int64_t *value_ns, int stride, bool counts)
{
    size_t size = (size_t)processes->size, n = (size_t)processes->n;
    processes->root_ns = with_room(processes->root_ns, &processes->root_room, n + 1);
    processes->root_ns[processes->n++] = value_ns[0];
    if (n > 0 && (n + 1) * size > SK_MOST_TIMES)
        return;
    size_t kept = (size_t)processes->kept++;
    processes->each_ns = with_room(processes->each_ns, &processes->each_room, (kept + 1) * size);
    for (size_t k = 0; k < size; k++)
        processes->each_ns[kept * size + k] = marked(value_ns[k * (size_t)stride], counts);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The median (lower of the two middle ones) of a process over the repetitions that count, or of all if none does. */
static int64_t median(const struct sk_processes *processes, int process, int64_t *scratch)
{
    size_t n = 0, size = (size_t)processes->size;
    for (size_t i = 0; i < (size_t)processes->kept; i++) {
        int64_t value = processes->each_ns[i * size + (size_t)process];
        if (value >= 0)
            scratch[n++] = value;
    }
    for (size_t i = 0; n == 0 && i < (size_t)processes->kept; i++)
        scratch[i] = plain(processes->each_ns[i * size + (size_t)process]);
    n = n > 0 ? n : (size_t)processes->kept;
    qsort(scratch, n, sizeof *scratch, ascending);
    return scratch[(n - 1) / 2];
}

void sk_processes_write(const struct sk_processes *processes, struct sk_json *json)
{
    size_t size = (size_t)processes->size;
    if (size == 0 || processes->kept == 0)
        return;
    sk_json_ints(json, "root_ns", processes->root_ns, (size_t)processes->n);
    sk_json_begin(json, "process_ns", '[');
    int64_t *scratch = sk_alloc((size > (size_t)processes->kept ? size : (size_t)processes->kept) * sizeof *scratch);
    for (int i = processes->kept_before; i < processes->kept; i++) {
        for (size_t k = 0; k < size; k++)
            scratch[k] = plain(processes->each_ns[(size_t)i * size + k]);
        sk_json_ints(json, NULL, scratch, size);
    }
    sk_json_end(json, ']');
    sk_json_begin(json, "process_median_ns", '[');
    for (int k = 0; k < processes->size; k++)
        sk_json_int(json, NULL, median(processes, k, scratch));
    sk_json_end(json, ']');
    sk_free(scratch);
}
