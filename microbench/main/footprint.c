#include "main/footprint.h"

#include "base/alloc.h"
#include "base/check.h"

#include <stdio.h>

struct sk_bench sk_bench_open(const struct sk_world *world, int creations, int slope_objects)
{
    struct sk_bench bench = {.world = world, .creations = creations, .slope_objects = slope_objects};
    size_t k = (size_t)creations, most = (size_t)(creations > slope_objects ? creations : slope_objects);
    bench.objects = sk_alloc(most * sizeof *bench.objects);
    bench.live = sk_alloc(k * sizeof *bench.live);
    bench.requested = sk_alloc(k * sizeof *bench.requested);
    bench.peak = sk_alloc(k * sizeof *bench.peak);
    return bench;
}

void sk_bench_close(struct sk_bench *bench)
{
    sk_free(bench->objects);
    sk_free(bench->live);
    sk_free(bench->requested);
    sk_free(bench->peak);
}

struct sk_footprint sk_footprint_new(const struct sk_bench *bench, enum sk_object_kind kind, enum sk_shape shape,
                                     uint64_t seed)
{
    struct sk_footprint footprint = {.maker = sk_maker_new(kind, shape, seed), .creations = bench->creations};
    footprint.live = sk_alloc((size_t)bench->creations * sizeof *footprint.live);
    footprint.requested = sk_alloc((size_t)bench->creations * sizeof *footprint.requested);
    return footprint;
}

void sk_footprint_free(struct sk_footprint *footprint)
{
    sk_maker_free(&footprint->maker);
    sk_free(footprint->live);
    sk_free(footprint->requested);
}

static void make_one_counted(const struct sk_maker *maker, const struct sk_bench *bench, int i)
{
    sk_counts_reset_peak();
    struct sk_counts before = sk_counts_now();
    SK_MPI(sk_object_make(maker, &bench->objects[i]));
    struct sk_counts after = sk_counts_now();
    bench->live[i] = after.live - before.live;
    bench->requested[i] = after.requested - before.requested;
    bench->peak[i] = after.peak - before.live;
}

/* Returns the bytes that the frees gave back. */
static int64_t free_all(const struct sk_maker *maker, const struct sk_bench *bench, int n)
{
    int64_t before = sk_counts_now().live;
    for (int i = 0; i < n; i++)
        SK_MPI(sk_object_free(maker, &bench->objects[i]));
    return before - sk_counts_now().live;
}

/* Returns the bytes that are lost when the objects are made, used and freed once more. */
static int64_t lost_bytes(const struct sk_maker *maker, const struct sk_bench *bench, bool *works)
{
    int64_t before = sk_counts_now().live;
    for (int i = 0; i < bench->creations; i++)
        SK_MPI(sk_object_make(maker, &bench->objects[i]));
    for (int i = 0; i < bench->creations; i++)
        *works = sk_object_works(maker, &bench->objects[i]) && *works;
    free_all(maker, bench, bench->creations);
    return sk_counts_now().live - before;
}

/* A leak comes back every time, a pool that grows does not. */
static int64_t least_lost(const struct sk_maker *maker, const struct sk_bench *bench, bool *works)
{
    int64_t once = lost_bytes(maker, bench, works), again = lost_bytes(maker, bench, works);
    return once < again ? once : again;
}

static int64_t smallest(const int64_t *values, int n)
{
    int64_t least = values[0];
    for (int i = 1; i < n; i++)
        least = values[i] < least ? values[i] : least;
    return least;
}

void sk_footprint_count(struct sk_footprint *footprint, const struct sk_bench *bench)
{
    const struct sk_maker *maker = &footprint->maker;
    MPI_Comm comm = bench->world->harness;
    int n = bench->creations;
    bool works = true;
    for (int i = 0; i < n; i++)
        make_one_counted(maker, bench, i);
    int64_t freed = free_all(maker, bench, n), lost = least_lost(maker, bench, &works);
    int64_t least = smallest(bench->live, n);
    int64_t mine[] = {least, -least, bench->live[0], smallest(bench->peak, n), freed, lost}, most[6];
    SK_MPI(PMPI_Reduce(mine, most, 6, MPI_INT64_T, MPI_MAX, 0, comm));
    SK_MPI(PMPI_Reduce(bench->live, footprint->live, n, MPI_INT64_T, MPI_MAX, 0, comm));
    SK_MPI(PMPI_Reduce(bench->requested, footprint->requested, n, MPI_INT64_T, MPI_MAX, 0, comm));
    footprint->steady = most[0];
    footprint->steady_min = -most[1];
    footprint->first = most[2];
    footprint->peak = most[3];
    footprint->freed = most[4];
    footprint->leaked = most[5];
    int fails = !works, any = 0;
    SK_MPI(PMPI_Allreduce(&fails, &any, 1, MPI_INT, MPI_MAX, comm));
    footprint->verified = !any;
}

void sk_footprint_write(const struct sk_footprint *f, struct sk_json *json, int p)
{
    char name[64];
    const char *shape = sk_shape_names[f->maker.shape];
    snprintf(name, sizeof name, f->maker.shape == SK_IDENTITY ? "%s" : "%s[%s]", sk_object_names[f->maker.kind], shape);
    sk_json_begin(json, NULL, '{');
    sk_json_text(json, "rec", "mem");
    sk_json_text(json, "op", name);
    sk_json_int(json, "p", p);
    sk_json_text(json, "shape", shape);
    sk_json_int(json, "creations", f->creations);
    sk_json_ints(json, "live_B", f->live, (size_t)f->creations);
    sk_json_ints(json, "requested_B", f->requested, (size_t)f->creations);
    sk_json_int(json, "steady_B", f->steady);
    sk_json_int(json, "steady_min_B", f->steady_min);
    sk_json_int(json, "first_B", f->first);
    sk_json_int(json, "peak_B", f->peak);
    sk_json_int(json, "freed_B", f->freed);
    sk_json_int(json, "leaked_B", f->leaked);
    sk_json_int(json, "slope_objects", f->slope_objects);
    if (f->slope_objects > 0) {
        sk_json_real(json, "pss_slope_B", f->pss_slope);
        sk_json_real(json, "malloc_slope_B", f->malloc_slope);
    }
    sk_json_bool(json, "bypassed", f->bypassed);
    sk_json_bool(json, "verified", f->verified);
    sk_json_end(json, '}');
}
