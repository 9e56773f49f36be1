#include "trace/types.h"

#include "trace/kinds.h"

#include <stdbool.h>
#include <string.h>

static struct { MPI_Datatype type; int64_t bytes; uint32_t layout; bool known; } types[64];

static uint32_t layout_of(MPI_Datatype type)
{
    int n_ints, n_addresses, n_types, combiner = MPI_COMBINER_NAMED;
#ifndef SK_SIMULATED
    PMPI_Type_get_envelope(type, &n_ints, &n_addresses, &n_types, &combiner);
#else
    (void)type, (void)n_ints, (void)n_addresses, (void)n_types;
#endif
    if (combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_CONTIGUOUS)
        return 0;
    if (combiner == MPI_COMBINER_VECTOR || combiner == MPI_COMBINER_HVECTOR || combiner == MPI_COMBINER_SUBARRAY ||
        combiner == MPI_COMBINER_RESIZED)
        return SK_STRIDED;
    return SK_VECTOR;
}

int64_t sk_types_bytes(int64_t n, MPI_Datatype type, uint32_t *layout)
{
    uint64_t hash = (uint64_t)(uintptr_t)type * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)(hash >> 58);
    if (type == MPI_DATATYPE_NULL) {
        *layout = 0;
        return 0;
    }
    if (!types[at].known || types[at].type != type) {
        int size = 0;
        PMPI_Type_size(type, &size);
        types[at].type = type;
        types[at].bytes = size;
        types[at].layout = layout_of(type);
        types[at].known = true;
    }
    *layout = types[at].layout;
    return n * types[at].bytes;
}

void sk_types_clear(void)
{
    memset(types, 0, sizeof types);
}
