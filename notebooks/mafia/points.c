#include "mafia/points.h"

#include "base/alloc.h"
#include "base/rng.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double span = 100; /* every dimension goes from 0 to this */
static const double noise = 0.1; /* share of the points that belong to no cluster */

static double uniform(struct sk_rng *rng)
{
    return (double)(sk_rng_next(rng) >> 11) * 0x1p-53;
}

/* Each cluster gets k dimensions at random: for a larger k some more, never others. Each dimension is cut into a strip
 * for each cluster, in random order, and the box of a cluster lies inside its strip: two windows wide, and at least one
 * away from any other box. */
static void choose_boxes(struct sk_plan *plan)
{
    int strip = plan->windows / plan->clusters;
    for (int c = 0; c < plan->clusters; c++) {
        struct sk_rng rng = sk_rng_seeded(plan->seed, 1 + (uint64_t)c);
        int order[SK_MAFIA_MOST_DIMS];
        bool chosen[SK_MAFIA_MOST_DIMS] = {false};
        for (int j = 0; j < plan->d; j++)
            order[j] = j;
        sk_rng_shuffle(&rng, order, plan->d);
        for (int i = 0; i < plan->k; i++)
            chosen[order[i]] = true;
        for (int j = 0, i = 0; j < plan->d; j++)
            if (chosen[j])
                plan->dims[c][i++] = j;
    }
    struct sk_rng rng = sk_rng_seeded(plan->seed, 0);
    for (int j = 0; j < plan->d; j++) {
        int strips[SK_MAFIA_MOST_CLUSTERS];
        for (int c = 0; c < plan->clusters; c++)
            strips[c] = c;
        sk_rng_shuffle(&rng, strips, plan->clusters);
        for (int c = 0; c < plan->clusters; c++)
            plan->first[c][j] = strips[c] * strip + (int)sk_rng_below(&rng, (uint64_t)strip - 2);
    }
}

/* Fills one dimension of a box evenly: one value in each of `count` equal slices, which points get by a shuffle. */
static void fill_evenly(double *x, size_t count, double low, double width, struct sk_rng *rng)
{
    for (size_t i = 0; i < count; i++)
        x[i] = low + width * ((double)i + uniform(rng)) / (double)count;
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)sk_rng_below(rng, i);
        double kept = x[i - 1];
        x[i - 1] = x[j];
        x[j] = kept;
    }
}

struct sk_points sk_points_planted(struct sk_plan *plan)
{
    struct sk_points points = {.n = plan->n, .d = plan->d};
    points.x = sk_alloc(points.n * (size_t)points.d * sizeof(double));
    choose_boxes(plan);
    size_t each = (size_t)((double)(points.n - 2) * (1 - noise)) / (size_t)plan->clusters;
    double width = span / plan->windows;
    for (int j = 0; j < points.d; j++) {
        double *column = points.x + (size_t)j * points.n;
        struct sk_rng rng = sk_rng_seeded(plan->seed, 1000 + (uint64_t)j);
        for (size_t i = 0; i < points.n; i++)
            column[i] = span * uniform(&rng);
        column[points.n - 2] = 0; /* two points hold the range, so that windows begin at multiples of their width */
        column[points.n - 1] = span;
        for (int c = 0; c < plan->clusters; c++) {
            bool inside = false;
            for (int i = 0; i < plan->k; i++)
                inside |= plan->dims[c][i] == j;
            if (inside)
                fill_evenly(column + (size_t)c * each, each, width * plan->first[c][j], 2 * width, &rng);
        }
    }
    return points;
}

static bool read_values(FILE *file, struct sk_points *points, const char *path, char *why, size_t room)
{
    for (size_t i = 0; i < points->n; i++)
        for (int j = 0; j < points->d; j++) {
            double *value = &points->x[(size_t)j * points->n + i];
            if (fscanf(file, "%lf", value) != 1 || !isfinite(*value)) {
                snprintf(why, room, "--points %s: value %d of row %zu is missing or no finite number; %zu rows of %d "
                         "numbers are needed after the first line", path, j + 1, i + 1, points->n, points->d);
                return false;
            }
        }
    return true;
}

bool sk_points_read(const char *path, struct sk_points *points, char *why, size_t room)
{
    *points = (struct sk_points){0};
    int64_t n = 0, d = 0;
    errno = 0;
    FILE *file = fopen(path, "r");
    if (!file) {
        snprintf(why, room, "--points %s: %s; name a text file of points", path, strerror(errno));
        return false;
    }
    bool ok = fscanf(file, "%" SCNd64 " %" SCNd64, &n, &d) == 2 && n >= 1 && n <= 100000000 && d >= 1 &&
              d <= SK_MAFIA_MOST_DIMS;
    if (!ok)
        snprintf(why, room, "--points %s: the first line must be the number of points, at least 1, and of dimensions, "
                 "1 to %d", path, SK_MAFIA_MOST_DIMS);
    if (ok) {
        *points = (struct sk_points){.n = (size_t)n, .d = (int)d};
        points->x = sk_alloc(points->n * (size_t)points->d * sizeof(double));
        ok = read_values(file, points, path, why, room);
    }
    fclose(file);
    return ok;
}

void sk_points_free(struct sk_points *points)
{
    sk_free(points->x);
    *points = (struct sk_points){0};
}
