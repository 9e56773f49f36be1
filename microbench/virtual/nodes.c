/* Open MPI learns from PMIx which ranks share its node. Here it learns that from the virtual machine: else windows of
 * ranks that are nodes apart lie in one shared memory, and one-sided operations on them send nothing.
 *
 * MPICH has a setting for it, MPIR_CVAR_NOLOCAL. */
#define _GNU_SOURCE
#include "virtual/real.h"
#include "virtual/self.h"
#include "virtual/shared.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From the standard of PMIx, whose headers few installations have. */
enum { PMIX_SUCCESS = 0, PMIX_ERR_NOMEM = -32, PMIX_STRING = 3 };
#define PMIX_LOCAL_PEERS "pmix.lpeers"

struct value {
    uint16_t type;
    union { char *string; char room[32]; } data;
};

typedef int get_function(const void *, const char *, const void *, size_t, struct value **);

/* A component of Open MPI 4 loads the library, where RTLD_NEXT does not look. */
static get_function *real_get(void)
{
    get_function *found;
    *(void **)&found = dlsym(RTLD_NEXT, "PMIx_Get");
    void *library = found ? NULL : dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NOLOAD);
    if (library)
        *(void **)&found = dlsym(library, "PMIx_Get");
    if (!found) {
        fprintf(stderr, "scalkit virtual time: the MPI library has no PMIx_Get\n");
        exit(SK_EXIT_OVER);
    }
    return found;
}

/* The ranks on the node of this process, with a comma between two. */
static char *peers(const struct sk_machine *machine)
{
    enum { LONGEST = 12 };
    int n = machine->per_node > 0 ? machine->per_node : 1, first = sk_self.rank / n * n;
    char *text = malloc((size_t)n * LONGEST), *at = text;
    for (int rank = first; text && rank < first + n && rank < machine->processes; rank++)
        at += sprintf(at, "%s%d", rank > first ? "," : "", rank);
    return text;
}

SK_EXPORT int PMIx_Get(const void *process, const char *key, const void *info, size_t n, struct value **value)
{
    if (!sk_self_is_there() || !key || !value || strcmp(key, PMIX_LOCAL_PEERS) != 0)
        return real_get()(process, key, info, n, value);
    char *string = peers(&sk_shared->machine);
    *value = string ? calloc(1, sizeof **value) : NULL;
    if (!*value) {
        free(string);
        return PMIX_ERR_NOMEM;
    }
    **value = (struct value){.type = PMIX_STRING, .data.string = string};
    return PMIX_SUCCESS;
}
