/* Points: planted clusters from a seed, or what stands in a text file. */
#ifndef SK_MAFIA_POINTS_H
#define SK_MAFIA_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SK_MAFIA_MOST_DIMS = 64, SK_MAFIA_MOST_CLUSTERS = 6 };

struct sk_points {
    size_t n;
    int d;
    double *x; /* d columns of n values: x[dimension * n + point] */
};

/* What is planted: `clusters` boxes of `k` of the `d` dimensions, whose edges are edges of `windows` equal windows. */
struct sk_plan {
    size_t n;
    int d, k, clusters, windows;
    uint64_t seed;
    int dims[SK_MAFIA_MOST_CLUSTERS][SK_MAFIA_MOST_DIMS];  /* out: the first k are those of the cluster, ascending */
    int first[SK_MAFIA_MOST_CLUSTERS][SK_MAFIA_MOST_DIMS]; /* out: first of the two windows, by dimension */
};

/* Fills the outputs of the plan and returns the points; the caller frees them. Every number of clusters from 1 to
 * SK_MAFIA_MOST_CLUSTERS fits if windows >= 4 * clusters, k <= d and n >= 2. */
struct sk_points sk_points_planted(struct sk_plan *plan);

/* Reads "n d" and then n rows of d numbers. Returns false with the reason in `why` when the file is not so. */
bool sk_points_read(const char *path, struct sk_points *points, char *why, size_t room);

void sk_points_free(struct sk_points *points);

#endif
