#include "base/alloc.h"

#include "base/check.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

static size_t live;

void *sk_alloc(size_t bytes)
{
    return sk_grow(NULL, 0, bytes > 0 ? bytes : 1);
}

void *sk_grow(void *memory, size_t before, size_t bytes)
{
    size_t held = memory ? malloc_usable_size(memory) : 0;
    char *result = realloc(memory, bytes);
    if (!result) {
        sk_say("out of memory: %zu bytes could not be allocated; use a smaller --size or fewer processes", bytes);
        abort();
    }
    if (bytes > before)
        memset(result + before, 0, bytes - before);
    live += malloc_usable_size(result) - held;
    return result;
}

void sk_free(void *memory)
{
    if (memory)
        live -= malloc_usable_size(memory);
    free(memory);
}

size_t sk_alloc_live(void)
{
    return live;
}
