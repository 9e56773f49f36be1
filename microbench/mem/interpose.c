/* malloc and its kin, defined in the executable: every shared library of the process binds to these. They forward to
 * glibc's own under its __libc_ names and count usable bytes. Under the address sanitizer, which brings a malloc of its
 * own, its hooks count instead. Without glibc, or with -DSK_NO_INTERPOSER, this file is empty and nothing is counted.
 *
 * glibc hands out a chunk that is one step too large when splitting it would leave a rest too small to use; whether
 * that happens depends on what was freed before. Equal requests would count differently from run to run, so such a
 * chunk is put back and another one taken. */
#define _GNU_SOURCE
#include "mem/counter.h"

#if defined(SK_NO_INTERPOSER)

typedef int sk_nothing_here; /* C wants a declaration in every file */

#elif defined(__SANITIZE_ADDRESS__)

void __sanitizer_malloc_hook(const volatile void *memory, size_t bytes);
void __sanitizer_free_hook(const volatile void *memory);
size_t __sanitizer_get_allocated_size(const volatile void *memory);

void __sanitizer_malloc_hook(const volatile void *memory, size_t bytes)
{
    (void)memory;
    sk_count_allocated(bytes, bytes);
}

void __sanitizer_free_hook(const volatile void *memory)
{
    if (memory)
        sk_count_freed(__sanitizer_get_allocated_size(memory));
}

#elif defined(__GLIBC__)

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t n, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);
void free_sized(void *memory, size_t bytes);
void free_aligned_sized(void *memory, size_t alignment, size_t bytes);

enum { STEP = 2 * sizeof(size_t), ATTEMPTS = 32, LARGEST = 65536 };

/* Returns the usable bytes of a chunk that fits the request without a surplus. */
static size_t fitting(size_t bytes)
{
    size_t chunk = (bytes + sizeof(size_t) + STEP - 1) / STEP * STEP;
    return (chunk < 2 * STEP ? 2 * STEP : chunk) - sizeof(size_t);
}

static int is_surplus(void *memory, size_t bytes)
{
    return bytes <= LARGEST && malloc_usable_size(memory) == fitting(bytes) + STEP;
}

/* Returns another chunk in place of one with a surplus; the contents are not kept. */
static void *exchanged(void *memory, size_t bytes)
{
    void *kept[ATTEMPTS];
    int n = 0;
    while (memory && n < ATTEMPTS && is_surplus(memory, bytes)) {
        kept[n++] = memory;
        memory = __libc_malloc(bytes);
    }
    if (!memory && n > 0)
        memory = kept[--n];
    while (n > 0)
        __libc_free(kept[--n]);
    return memory;
}

static void *counted(void *memory, size_t bytes)
{
    if (memory)
        sk_count_allocated(malloc_usable_size(memory), bytes);
    return memory;
}

void *malloc(size_t bytes)
{
    return counted(exchanged(__libc_malloc(bytes), bytes), bytes);
}

void *calloc(size_t n, size_t bytes)
{
    void *first = __libc_calloc(n, bytes); /* NULL when the product overflows */
    void *memory = exchanged(first, n * bytes);
    return counted(memory == first ? memory : memset(memory, 0, n * bytes), n * bytes);
}

void *realloc(void *memory, size_t bytes)
{
    size_t before = memory ? malloc_usable_size(memory) : 0;
    void *result = __libc_realloc(memory, bytes);
    if (result || (memory && bytes == 0)) /* glibc: realloc to 0 bytes frees */
        sk_count_freed(before);
    if (!result || !is_surplus(result, bytes))
        return counted(result, bytes);
    void *other = exchanged(__libc_malloc(bytes), bytes);
    if (!other)
        return counted(result, bytes);
    memcpy(other, result, bytes);
    __libc_free(result);
    return counted(other, bytes);
}

void *reallocarray(void *memory, size_t n, size_t bytes)
{
    size_t total;
    if (__builtin_mul_overflow(n, bytes, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(memory, total);
}

void *memalign(size_t alignment, size_t bytes)
{
    return counted(__libc_memalign(alignment, bytes), bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    int kept = errno;
    void *result = memalign(alignment, bytes);
    errno = kept;
    if (!result)
        return ENOMEM;
    *memory = result;
    return 0;
}

void *valloc(size_t bytes)
{
    return memalign((size_t)sysconf(_SC_PAGESIZE), bytes);
}

void *pvalloc(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes > SIZE_MAX - page) {
        errno = ENOMEM;
        return NULL;
    }
    return memalign(page, (bytes + page - 1) / page * page);
}

void free(void *memory)
{
    if (memory)
        sk_count_freed(malloc_usable_size(memory));
    __libc_free(memory);
}

void free_sized(void *memory, size_t bytes)
{
    (void)bytes;
    free(memory);
}

void free_aligned_sized(void *memory, size_t alignment, size_t bytes)
{
    (void)alignment;
    (void)bytes;
    free(memory);
}

#else

typedef int sk_nothing_here;

#endif
