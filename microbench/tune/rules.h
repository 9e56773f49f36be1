/* Rules of which call is replaced by what, where; read from text that nobody has to trust. Without MPI. */
#ifndef SK_TUNE_RULES_H
#define SK_TUNE_RULES_H

#include <stdatomic.h>

enum { SK_MOST_RULES = 4096, SK_MOST_RULES_BYTES = 1 << 20 };

/* What can take the place of a call: `use` is "MPI_Scatter+MPI_Allgather", `run` a function of the call's own type. */
struct sk_substitute {
    int call;
    const char *use;
    void (*run)(void);
};

/* `followed`: calls that were replaced; `different`: checks whose results differ. */
struct sk_rule {
    int call, substitute;
    long long p_low, p_high, bytes_low, bytes_high;
    atomic_llong followed, different;
    struct sk_rule *next; /* of the same call */
};

/* What there is to replace: `names` of the calls ("MPI_Bcast"), and their substitutes. */
struct sk_offer {
    const char *const *names;
    int calls;
    const struct sk_substitute *substitutes;
    int n;
};

struct sk_rules {
    struct sk_rule *all, **first; /* by call: NULL where nothing is replaced */
    int n;
};

/* Reads rules; returns 1, or 0 with one sentence in `why`, which names the line. sk_rules_free frees both. */
int sk_rules_read(struct sk_rules *rules, const struct sk_offer *offer, const char *text, char *why, int room);
void sk_rules_free(struct sk_rules *rules);

/* The first rule of a call that fits; NULL if there is none. */
static inline struct sk_rule *sk_rules_find(struct sk_rule *first, long long p, long long bytes)
{
    while (first && (p < first->p_low || p > first->p_high || bytes < first->bytes_low || bytes > first->bytes_high))
        first = first->next;
    return first;
}

#endif
