#include "mafia/grid.h"

#include "base/alloc.h"
#include "base/check.h"

#include <math.h>

struct window {
    int first, end;
    int64_t height; /* of its highest bin */
};

static int64_t highest(const int64_t *histogram, int first, int end)
{
    int64_t most = 0;
    for (int b = first; b < end; b++)
        most = histogram[b] > most ? histogram[b] : most;
    return most;
}

/* Cuts the bins into at most `wanted` windows of equal width, of which the last may be narrower; returns how many. */
static int cut_evenly(const int64_t *histogram, int bins, int wanted, struct window *windows)
{
    int width = (bins + wanted - 1) / wanted, n = 0;
    for (int first = 0; first < bins; first += width) {
        int end = first + width < bins ? first + width : bins;
        windows[n++] = (struct window){first, end, highest(histogram, first, end)};
    }
    return n;
}

static bool are_alike(const struct window *a, const struct window *b, double beta)
{
    int64_t low = a->height < b->height ? a->height : b->height;
    int64_t high = a->height < b->height ? b->height : a->height;
    return (double)(high - low) <= beta * (double)high;
}

static int cut_adaptively(const int64_t *histogram, const struct sk_grid_rules *rules, struct window *windows)
{
    int cut = cut_evenly(histogram, rules->bins, rules->windows, windows), n = 1;
    for (int i = 1; i < cut; i++) {
        struct window *last = &windows[n - 1], next = windows[i];
        if (are_alike(last, &next, rules->beta)) {
            last->end = next.end;
            last->height = next.height > last->height ? next.height : last->height;
        } else {
            windows[n++] = next;
        }
    }
    return n > 1 ? n : cut_evenly(histogram, rules->bins, rules->uniform, windows);
}

/* Writes the bin of every point; returns false when all values are equal. */
static bool find_bins(const double *x, size_t n, int bins, int *bin)
{
    double least = x[0], greatest = x[0];
    for (size_t i = 1; i < n; i++) {
        least = fmin(least, x[i]);
        greatest = fmax(greatest, x[i]);
    }
    double half = greatest / 2 - least / 2; /* the range itself may overflow */
    if (!(half > 0))
        return false;
    for (size_t i = 0; i < n; i++) {
        int b = (int)((x[i] / 2 - least / 2) / half * bins);
        bin[i] = b < bins ? b : bins - 1;
    }
    return true;
}

static void add_dense(struct sk_grid *grid, const struct window *window, int dim, double threshold, const int *bin,
                      size_t n)
{
    SK_REQUIRE(grid->n < UINT16_MAX, "there are more than %d dense windows; use fewer --windows or a greater --alpha",
               UINT16_MAX - 1);
    size_t before = (size_t)grid->n * sizeof *grid->dense;
    grid->dense = sk_grow(grid->dense, before, before + sizeof *grid->dense);
    struct sk_dense_window *dense = &grid->dense[grid->n++];
    *dense = (struct sk_dense_window){dim, window->first, window->end, threshold,
                                      sk_alloc(grid->words * sizeof(uint64_t))};
    for (size_t i = 0; i < n; i++)
        if (bin[i] >= window->first && bin[i] < window->end)
            dense->points[i / 64] |= UINT64_C(1) << (i % 64);
}

static void add_dimension(struct sk_grid *grid, const struct sk_grid_rules *rules, int dim, const int *bin, size_t n,
                          int64_t *histogram, struct window *windows)
{
    for (int b = 0; b < rules->bins; b++)
        histogram[b] = 0;
    for (size_t i = 0; i < n; i++)
        histogram[bin[i]]++;
    int n_windows = cut_adaptively(histogram, rules, windows);
    for (int w = 0; w < n_windows; w++) {
        int64_t inside = 0;
        for (int b = windows[w].first; b < windows[w].end; b++)
            inside += histogram[b];
        double threshold = rules->alpha * (double)n * (windows[w].end - windows[w].first) / rules->bins;
        if ((double)inside > threshold)
            add_dense(grid, &windows[w], dim, threshold, bin, n);
    }
}

struct sk_grid sk_grid_made(const struct sk_points *points, const struct sk_grid_rules *rules)
{
    size_t words = (points->n + 63) / 64;
    struct sk_grid grid = {.words = (words + SK_MAFIA_BLOCK - 1) / SK_MAFIA_BLOCK * SK_MAFIA_BLOCK};
    int most = rules->windows > rules->uniform ? rules->windows : rules->uniform;
    int *bin = sk_alloc(points->n * sizeof *bin);
    int64_t *histogram = sk_alloc((size_t)rules->bins * sizeof *histogram);
    struct window *windows = sk_alloc((size_t)most * sizeof *windows);
    for (int j = 0; j < points->d; j++)
        if (find_bins(points->x + (size_t)j * points->n, points->n, rules->bins, bin))
            add_dimension(&grid, rules, j, bin, points->n, histogram, windows);
    sk_free(windows);
    sk_free(histogram);
    sk_free(bin);
    return grid;
}

void sk_grid_free(struct sk_grid *grid)
{
    for (int w = 0; w < grid->n; w++)
        sk_free(grid->dense[w].points);
    sk_free(grid->dense);
    *grid = (struct sk_grid){0};
}
