/* The lock around the recorder's data; it locks only where threads may call MPI at the same time. */
#ifndef SK_TRACE_LOCK_H
#define SK_TRACE_LOCK_H

#include <stdbool.h>

void sk_lock_begin(bool is_locking); /* before other threads call MPI */
void sk_lock(void);
void sk_unlock(void);

#endif
