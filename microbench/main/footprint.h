/* The memory of one kind of object, as this process sees it and over all processes. */
#ifndef SK_MAIN_FOOTPRINT_H
#define SK_MAIN_FOOTPRINT_H

#include "base/json.h"
#include "base/world.h"
#include "mem/counter.h"
#include "mem/objects.h"

/* Room for objects and numbers, allocated once so that nothing of ours is allocated between two readings. */
struct sk_bench {
    const struct sk_world *world;
    int creations, slope_objects;
    union sk_object *objects;          /* the larger of the two */
    int64_t *live, *requested, *peak;  /* of each creation */
};

struct sk_footprint {
    struct sk_maker maker;
    int64_t *live, *requested; /* of each creation; the largest of all processes, on process 0 */
    int creations;
    int64_t steady, steady_min, first, peak, freed, leaked; /* bytes, over all processes, on process 0 */
    int slope_objects;         /* 0: not measured */
    double pss_slope, malloc_slope; /* bytes an object, largest of all processes */
    bool bypassed, verified;
};

/* Every process must call these. The caller closes and frees. */
struct sk_bench sk_bench_open(const struct sk_world *world, int creations, int slope_objects);
void sk_bench_close(struct sk_bench *bench);
struct sk_footprint sk_footprint_new(const struct sk_bench *bench, enum sk_object_kind kind, enum sk_shape shape,
                                     uint64_t seed);
void sk_footprint_free(struct sk_footprint *footprint);

/* Makes and frees the objects three times: the first time the bytes of each creation are read; then every object is
 * used, and what is still allocated afterwards, the smaller of two times, is a leak. */
void sk_footprint_count(struct sk_footprint *footprint, const struct sk_bench *bench);

/* Makes many objects and fits the growth of the proportional set size, then frees them. Stops early after `share_ns`
 * (process 0's counts) or when the library refuses to make more. */
void sk_footprint_slope(struct sk_footprint *footprint, const struct sk_bench *bench, int64_t share_ns);

/* Returns the slope of the least-squares line through n >= 2 points. */
double sk_slope(const double *x, const double *y, int n);

/* Appends the record; process 0 only. */
void sk_footprint_write(const struct sk_footprint *footprint, struct sk_json *json, int p);

#endif
