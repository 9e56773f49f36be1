#define _POSIX_C_SOURCE 200809L
#include "mafia/search.h"

#include <stdlib.h>

const char *const sk_function_names[SK_FUNCTIONS] = {"gen", "dedup", "pcount", "unjoin"};

static int64_t now_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int64_t sk_search_reading_ns(clockid_t clock)
{
    enum { READINGS = 1001 };
    int64_t ns[READINGS], before = now_ns(clock);
    for (int i = 0; i < READINGS; i++) {
        int64_t now = now_ns(clock);
        ns[i] = now - before;
        before = now;
    }
    qsort(ns, READINGS, sizeof *ns, by_size);
    return ns[READINGS / 2];
}

static void write_units(FILE *dump, const char *kind, const struct sk_units *units)
{
    for (size_t u = 0; dump && u < units->n; u++) {
        fputs(kind, dump);
        for (int i = 0; i < units->dim; i++)
            fprintf(dump, " %d", sk_units_at(units, u)[i]);
        fputc('\n', dump);
    }
}

static void begin(struct sk_search *search, const struct sk_grid *grid)
{
    sk_units_clear(&search->top, 0);
    sk_units_clear(&search->dense, 1);
    for (int w = 0; w < grid->n; w++)
        *sk_units_append(&search->dense) = (sk_window)w;
}

/* One step, each function between two readings of the clock. */
static void step(struct sk_search *search, const struct sk_grid *grid, clockid_t clock, struct sk_found *found)
{
    int64_t at[SK_FUNCTIONS + 1];
    at[SK_GEN] = now_ns(clock);
    sk_gen(&search->gen, grid, &search->dense, &search->candidates, &found->operations[SK_GEN]);
    at[SK_DEDUP] = now_ns(clock);
    sk_dedup(&search->dedup, &search->candidates, &search->distinct, &found->operations[SK_DEDUP]);
    at[SK_PCOUNT] = now_ns(clock);
    sk_pcount(grid, &search->distinct, &search->higher, &found->operations[SK_PCOUNT]);
    at[SK_UNJOIN] = now_ns(clock);
    sk_unjoin(&search->unjoin, &search->dense, &search->higher, &search->terminal, &found->operations[SK_UNJOIN]);
    at[SK_FUNCTIONS] = now_ns(clock);
    for (int f = 0; f < SK_FUNCTIONS; f++)
        found->ns[f] += at[f + 1] - at[f];
}

static void swap(struct sk_units *a, struct sk_units *b)
{
    struct sk_units kept = *a;
    *a = *b;
    *b = kept;
}

struct sk_found sk_search_run(struct sk_search *search, const struct sk_grid *grid, clockid_t clock, FILE *dump)
{
    struct sk_found found = {0};
    begin(search, grid);
    while (search->dense.n > 0) {
        step(search, grid, clock, &found);
        write_units(dump, "dense", &search->dense);
        write_units(dump, "terminal", &search->terminal);
        found.highest = search->dense.dim;
        found.steps++;
        found.dense += search->dense.n;
        found.terminal += search->terminal.n;
        found.candidates += search->candidates.n;
        found.distinct += search->distinct.n;
        if (search->higher.n == 0)
            swap(&search->top, &search->terminal);
        swap(&search->dense, &search->higher);
    }
    return found;
}

void sk_search_free(struct sk_search *search)
{
    sk_gen_free(&search->gen);
    sk_dedup_free(&search->dedup);
    sk_unjoin_free(&search->unjoin);
    struct sk_units *all[] = {&search->dense, &search->higher, &search->candidates, &search->distinct,
                              &search->terminal, &search->top};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sk_units_free(all[i]);
}
