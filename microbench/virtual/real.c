#define _GNU_SOURCE
#include "virtual/real.h"

#include <dlfcn.h>
#include <stdbool.h>

static struct sk_reals reals;
static bool are_known;

/* A pointer to an object becomes one to a function as POSIX allows. */
#define SK_REAL(result, name, parameters) *(void **)&reals.name = dlsym(RTLD_NEXT, #name);

const struct sk_reals *sk_real(void)
{
    if (!__atomic_load_n(&are_known, __ATOMIC_ACQUIRE)) {
        SK_REALS
        __atomic_store_n(&are_known, true, __ATOMIC_RELEASE);
    }
    return &reals;
}
