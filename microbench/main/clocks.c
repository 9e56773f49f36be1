#include "main/clocks.h"

#include "base/alloc.h"
#include "base/check.h"
#include "time/offset.h"

#include <math.h>
#include <mpi.h>

static bool is_shared(const struct sk_clocks *clocks)
{
    return clocks->world->single_node && !clocks->always;
}

struct sk_clock sk_clocks_open(struct sk_clocks *clocks, double budget_s)
{
    clocks->first = sk_offset_measure(clocks->world, clocks->always);
    if (!is_shared(clocks))
        sk_clock_sleep((int64_t)(5e7 * fmin(10, budget_s)));
    return sk_clocks_renew(clocks, clocks->first);
}

struct sk_clock sk_clocks_renew(const struct sk_clocks *clocks, struct sk_clock now)
{
    if (is_shared(clocks))
        return now;
    struct sk_clock later = sk_offset_measure(clocks->world, clocks->always);
    return sk_offset_with_drift(&clocks->first, &later);
}

void sk_clocks_write(const struct sk_clocks *clocks, const struct sk_clock *now, struct sk_json *json)
{
    const struct sk_world *world = clocks->world;
    size_t p = (size_t)world->size;
    int64_t *offsets = sk_alloc(p * sizeof *offsets), error = 0;
    double *drifts = sk_alloc(p * sizeof *drifts);
    SK_MPI(PMPI_Gather(&now->offset_ns, 1, MPI_INT64_T, offsets, 1, MPI_INT64_T, 0, world->harness));
    SK_MPI(PMPI_Gather(&now->drift, 1, MPI_DOUBLE, drifts, 1, MPI_DOUBLE, 0, world->harness));
    SK_MPI(PMPI_Reduce(&now->error_ns, &error, 1, MPI_INT64_T, MPI_MAX, 0, world->harness));
    if (world->rank == 0) {
        sk_json_begin(json, "clock", '{');
        sk_json_text(json, "source", sk_clock_source());
        sk_json_int(json, "resolution_ns", sk_clock_resolution_ns());
        sk_json_int(json, "read_ns", sk_clock_read_ns());
        sk_json_bool(json, "shared", is_shared(clocks));
        sk_json_ints(json, "offset_ns", offsets, p);
        sk_json_reals(json, "drift", drifts, p);
        sk_json_int(json, "error_ns", error);
        sk_json_end(json, '}');
    }
    sk_free(offsets);
    sk_free(drifts);
}
