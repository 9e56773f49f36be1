/* The main phase: from dense windows upwards, one dimension a step, until nothing is dense any more. */
#ifndef SK_MAFIA_SEARCH_H
#define SK_MAFIA_SEARCH_H

#include "mafia/kernels.h"

#include <stdio.h>
#include <time.h>

enum sk_function { SK_GEN, SK_DEDUP, SK_PCOUNT, SK_UNJOIN, SK_FUNCTIONS };
extern const char *const sk_function_names[SK_FUNCTIONS];

/* What one search found and did. */
struct sk_found {
    int64_t ns[SK_FUNCTIONS];          /* time of each function, all steps together */
    uint64_t operations[SK_FUNCTIONS]; /* what each function did: the same in every repetition */
    uint64_t candidates, distinct;     /* made by gen; left by dedup */
    uint64_t dense, terminal;          /* dense units, windows included; those that are part of no greater one */
    int highest;                       /* greatest dimensionality of a dense unit; 0 when no window is dense */
    int steps;                         /* readings of the clock that are part of each time */
};

/* Memory of a search, kept from one to the next. */
struct sk_search {
    struct sk_gen gen;
    struct sk_dedup dedup;
    struct sk_unjoin unjoin;
    struct sk_units dense, higher, candidates, distinct, terminal;
    struct sk_units top; /* out: the terminal units of the greatest dimensionality */
};

/* Searches the grid, timed by `clock`. Into `dump`, unless it is NULL, it writes a line for every dense and for every
 * terminal unit. */
struct sk_found sk_search_run(struct sk_search *search, const struct sk_grid *grid, clockid_t clock, FILE *dump);

/* Returns what one reading of the clock costs: the median between two readings with nothing between them. */
int64_t sk_search_reading_ns(clockid_t clock);

void sk_search_free(struct sk_search *search);

#endif
