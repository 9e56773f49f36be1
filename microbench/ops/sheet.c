#define _GNU_SOURCE /* memfd_create */

#include "ops/sheet.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

size_t sk_sheet_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void require(bool ok, size_t bytes)
{
    if (ok)
        return;
    sk_say("out of memory: %zu bytes could not be mapped; use a smaller --size or fewer processes", bytes);
    abort();
}

static void *map(void *at, size_t bytes, int flags, int file, size_t offset)
{
    void *memory = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, file, (off_t)offset);
    require(memory != MAP_FAILED, bytes);
    return memory;
}

void *sk_sheet_room(size_t bytes)
{
    return map(NULL, bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

void sk_sheet_room_free(void *room, size_t bytes)
{
    SK_ASSERT(munmap(room, bytes) == 0);
}

int sk_sheet_new(const void *period, size_t n, size_t bytes)
{
    int sheet = memfd_create("sheet", MFD_CLOEXEC);
    require(sheet >= 0 && ftruncate(sheet, (off_t)bytes) == 0, bytes);
    char *content = map(NULL, bytes, MAP_SHARED, sheet, 0);
    for (size_t i = 0; i < bytes; i += n)
        memcpy(content + i, period, bytes - i < n ? bytes - i : n);
    SK_ASSERT(munmap(content, bytes) == 0);
    return sheet;
}

void sk_sheet_show(int sheet, void *block, size_t bytes, size_t page)
{
    map(block, bytes, MAP_PRIVATE | MAP_FIXED, sheet, page * sk_sheet_page());
}

void sk_sheet_close(int sheet)
{
    SK_ASSERT(close(sheet) == 0);
}
