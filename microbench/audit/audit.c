/* Functions by name as regions of a program that is not changed: an auditor of the dynamic linker, loaded by LD_AUDIT.
 *
 * SCALKIT_FUNCTIONS names them, divided by commas, as their symbols are called. Seen are calls from a program or a
 * library into another library, of every thread; a call inside one library does not pass the linker. Each process
 * leaves its file in the folder that SCALKIT_REGIONS names, as scalkit/region.h does: calls and time, no memory, for
 * an auditor has a C library, and so a heap, of its own. */
#define _GNU_SOURCE
#define SK_REGION_MEMORY_CALLS 0
#include <link.h>
#include <scalkit/region.h>

#ifndef __x86_64__
#error "functions by name are seen on x86-64 alone; mark them with scalkit/region.h"
#endif

enum { MOST_ARGUMENTS_ON_STACK = 512 }; /* bytes that are copied; 64 arguments beyond the first six */

static int is_wanted(const char *name)
{
    const char *names = getenv("SCALKIT_FUNCTIONS");
    const size_t length = strlen(name);
    for (const char *at = names; at && length && (at = strstr(at, name)); at += length)
        if ((at == names || at[-1] == ',') && (at[length] == '\0' || at[length] == ','))
            return 1;
    return 0;
}

unsigned int la_version(unsigned int version)
{
    return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned int la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
    (void)map, (void)cookie;
    return namespace == LM_ID_BASE ? LA_FLG_BINDTO | LA_FLG_BINDFROM : 0;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned int index, uintptr_t *from, uintptr_t *to, unsigned int *flags,
                       const char *name)
{
    (void)index, (void)from, (void)to;
    if (!is_wanted(name))
        *flags |= LA_SYMB_NOPLTENTER | LA_SYMB_NOPLTEXIT;
    return symbol->st_value;
}

Elf64_Addr la_x86_64_gnu_pltenter(Elf64_Sym *symbol, unsigned int index, uintptr_t *from, uintptr_t *to,
                                  La_x86_64_regs *registers, unsigned int *flags, const char *name, long *frame_size)
{
    (void)index, (void)from, (void)to, (void)registers, (void)flags;
    *frame_size = MOST_ARGUMENTS_ON_STACK;
    sk_region_begin(name);
    return symbol->st_value;
}

unsigned int la_x86_64_gnu_pltexit(Elf64_Sym *symbol, unsigned int index, uintptr_t *from, uintptr_t *to,
                                   const La_x86_64_regs *before, La_x86_64_retval *after, const char *name)
{
    (void)symbol, (void)index, (void)from, (void)to, (void)before, (void)after;
    sk_region_end(name);
    return 0;
}
