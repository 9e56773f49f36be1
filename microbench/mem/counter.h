/* What malloc and its kin handed out in this process; safe with threads. */
#ifndef SK_MEM_COUNTER_H
#define SK_MEM_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sk_counts {
    int64_t live;      /* usable bytes that are allocated now */
    int64_t requested; /* bytes asked for since the program began, freed or not */
    int64_t peak;      /* most that was live since sk_counts_reset_peak */
};

/* Returns whether this executable counts: see interpose.c. */
bool sk_counts_available(void);

struct sk_counts sk_counts_now(void);
void sk_counts_reset_peak(void);

/* For the interposer. */
void sk_count_allocated(size_t usable, size_t requested);
void sk_count_freed(size_t usable);

#endif
