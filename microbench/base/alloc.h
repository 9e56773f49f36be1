/* Memory of the benchmark itself: allocation that never returns NULL, is touched at once, and is counted. */
#ifndef SK_BASE_ALLOC_H
#define SK_BASE_ALLOC_H

#include <stddef.h>

/* Returns `bytes` zeroed bytes (at least 1); aborts the process when there are none. The caller frees with sk_free. */
void *sk_alloc(size_t bytes);

/* Returns `memory` (or NULL) with room for `bytes`, contents kept, new part zeroed; `before` is its old size. */
void *sk_grow(void *memory, size_t before, size_t bytes);

void sk_free(void *memory);

/* Returns the bytes that sk_alloc and sk_grow handed out and sk_free has not taken back. */
size_t sk_alloc_live(void);

#endif
