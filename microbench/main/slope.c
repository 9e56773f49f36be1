/* The proportional set size over many objects: does it grow as malloc says? */
#include "base/check.h"
#include "main/footprint.h"
#include "mem/smaps.h"
#include "time/clock.h"

#include <malloc.h>

enum { BLOCKS = 8, SIGNIFICANT_B = 65536 };

double sk_slope(const double *x, const double *y, int n)
{
    double mean_x = 0, mean_y = 0, xy = 0, xx = 0;
    for (int i = 0; i < n; i++) {
        mean_x += x[i] / n;
        mean_y += y[i] / n;
    }
    for (int i = 0; i < n; i++) {
        xy += (x[i] - mean_x) * (y[i] - mean_y);
        xx += (x[i] - mean_x) * (x[i] - mean_x);
    }
    return xx > 0 ? xy / xx : 0;
}

/* Readings after each block of objects; the first is before any. */
struct series { double objects[BLOCKS + 1], pss[BLOCKS + 1], live[BLOCKS + 1]; int n; };

/* Pages of libraries count less or more whenever another process of the machine loads or leaves them: where the kernel
 * knows the pages that were written to, these alone count. */
static double pages_now(void)
{
    struct sk_smaps smaps = sk_smaps_now();
    return (double)smaps.bytes[smaps.bytes[SK_PSS_DIRTY] < 0 ? SK_PSS : SK_PSS_DIRTY];
}

static void take_reading(struct series *series, const struct sk_world *world, int objects)
{
    SK_MPI(PMPI_Barrier(world->harness));
    series->objects[series->n] = objects;
    series->live[series->n] = (double)sk_counts_now().live;
    series->pss[series->n] = pages_now();
    series->n++;
}

/* Makes objects made .. wanted - 1. Returns how many exist when all could be made; when one process could not make
 * one, nobody keeps it and *refused is set. */
static int make_more(const struct sk_maker *maker, const struct sk_bench *bench, int made, int wanted, bool *refused)
{
    for (; made < wanted; made++) {
        int failed = sk_object_make(maker, &bench->objects[made]) != MPI_SUCCESS, any = 0;
        SK_MPI(PMPI_Allreduce(&failed, &any, 1, MPI_INT, MPI_MAX, bench->world->harness));
        *refused = any;
        if (any && !failed)
            sk_object_free(maker, &bench->objects[made]);
        if (any)
            return made;
    }
    return made;
}

/* Process 0's answer for all. */
static bool still_time(const struct sk_world *world, int64_t end_ns)
{
    int yes = sk_clock_now() < end_ns;
    SK_MPI(PMPI_Bcast(&yes, 1, MPI_INT, 0, world->harness));
    return yes;
}

/* Heap pages that earlier objects left behind would be filled first, without any growth. */
static void give_back_free_pages(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* Sums over the processes decide, so that a page touched by chance on one does not. */
static void judge(struct sk_footprint *f, const struct series *series, const struct sk_bench *bench)
{
    int skip = series->n > 4 ? 2 : 0, n = series->n - skip; /* the first objects fill what was freed before */
    double mine[2] = {sk_slope(series->objects + skip, series->pss + skip, n),
                      sk_slope(series->objects + skip, series->live + skip, n)}, sum[2] = {0}, most[2] = {0};
    SK_MPI(PMPI_Reduce(mine, sum, 2, MPI_DOUBLE, MPI_SUM, 0, bench->world->harness));
    SK_MPI(PMPI_Reduce(mine, most, 2, MPI_DOUBLE, MPI_MAX, 0, bench->world->harness));
    f->pss_slope = most[0];
    f->malloc_slope = most[1];
    double grown = sum[0] / bench->world->size * f->slope_objects;
    f->bypassed = grown > SIGNIFICANT_B && sum[1] < 0.8 * sum[0];
}

void sk_footprint_slope(struct sk_footprint *footprint, const struct sk_bench *bench, int64_t share_ns)
{
    const struct sk_maker *maker = &footprint->maker;
    struct series series = {.n = 0};
    int64_t end_ns = sk_clock_now() + share_ns;
    int made = 0;
    bool refused = false;
    give_back_free_pages();
    take_reading(&series, bench->world, 0);
    for (int block = 1; block <= BLOCKS && !refused && still_time(bench->world, end_ns); block++) {
        int before = made;
        made = make_more(maker, bench, made, bench->slope_objects * block / BLOCKS, &refused);
        if (made > before)
            take_reading(&series, bench->world, made);
    }
    footprint->slope_objects = series.n >= 3 ? made : 0;
    if (footprint->slope_objects > 0)
        judge(footprint, &series, bench);
    for (int i = 0; i < made; i++)
        SK_MPI(sk_object_free(maker, &bench->objects[i]));
}
