#define _GNU_SOURCE
#include "virtual/zero.h"


#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether a range lies in one mapping that is this process's own and has no file behind it. */
static bool is_private(uintptr_t begin, uintptr_t end)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];
    bool found = false;
    while (maps && !found && fgets(line, sizeof line, maps)) {
        unsigned long from, to, inode;
        char access[8];
        found = sscanf(line, "%lx-%lx %7s %*s %*s %lu", &from, &to, access, &inode) == 4 && from <= begin &&
                end <= to && strcmp(access, "rw-p") == 0 && inode == 0;
    }
    if (maps)
        fclose(maps);
    return found;
}

bool sk_zero_pages(void *at, size_t bytes, char **begin, char **end)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = ((uintptr_t)at + page - 1) & ~(page - 1);
    uintptr_t last = ((uintptr_t)at + bytes) & ~(page - 1);
    if (first >= last || !is_private(first, last) || syscall(SYS_madvise, first, last - first, MADV_DONTNEED) != 0)
        return false;
    *begin = (char *)at + (first - (uintptr_t)at);
    *end = (char *)at + (last - (uintptr_t)at);
    return true;
}
