#include "mem/objects.h"

#include "base/alloc.h"
#include "base/check.h"

const char *const sk_object_names[SK_OBJECT_KINDS] = {
#define SK_OBJECT(id, name, stem, group) name,
#include "mem/objects.def"
#undef SK_OBJECT
};

const enum sk_object_group sk_object_groups[SK_OBJECT_KINDS] = {
#define SK_OBJECT(id, name, stem, group) SK_OBJECTS_##group,
#include "mem/objects.def"
#undef SK_OBJECT
};

static int make_comm_create(const struct sk_maker *maker, union sk_object *object)
{
    return MPI_Comm_create(MPI_COMM_WORLD, maker->group, &object->comm);
}

static int make_comm_dup(const struct sk_maker *maker, union sk_object *object)
{
    (void)maker;
    return MPI_Comm_dup(MPI_COMM_WORLD, &object->comm);
}

static int make_win_create(const struct sk_maker *maker, union sk_object *object)
{
    return MPI_Win_create(maker->exposed, sizeof *maker->exposed, sizeof *maker->exposed, MPI_INFO_NULL,
                          MPI_COMM_WORLD, &object->win);
}

static int make_cart_create(const struct sk_maker *maker, union sk_object *object)
{
    return MPI_Cart_create(MPI_COMM_WORLD, 2, maker->dims, (int[]){1, 1}, 0, &object->comm);
}

static int make_comm_split(const struct sk_maker *maker, union sk_object *object)
{
    return MPI_Comm_split(MPI_COMM_WORLD, 0, maker->rank, &object->comm);
}

static int make_win_allocate(const struct sk_maker *maker, union sk_object *object)
{
    long *exposed;
    return MPI_Win_allocate(sizeof *maker->exposed, sizeof *maker->exposed, MPI_INFO_NULL, MPI_COMM_WORLD, &exposed,
                            &object->win);
}

static int make_dist_graph_create(const struct sk_maker *maker, union sk_object *object)
{
    return MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &maker->rank, (int[]){1}, &maker->after, maker->unweighted,
                                 MPI_INFO_NULL, 0, &object->comm);
}

static int make_dist_graph_create_adjacent(const struct sk_maker *maker, union sk_object *object)
{
    return MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &maker->before, maker->unweighted, 1, &maker->after,
                                          maker->unweighted, MPI_INFO_NULL, 0, &object->comm);
}

static int (*const makers[SK_OBJECT_KINDS])(const struct sk_maker *, union sk_object *) = {
#define SK_OBJECT(id, name, stem, group) make_##stem,
#include "mem/objects.def"
#undef SK_OBJECT
};

struct sk_maker sk_maker_new(enum sk_object_kind kind, enum sk_shape shape, uint64_t seed)
{
    struct sk_maker maker = {.kind = kind, .shape = shape, .unweighted = MPI_UNWEIGHTED};
    MPI_Group all;
    SK_MPI(PMPI_Comm_rank(MPI_COMM_WORLD, &maker.rank));
    SK_MPI(PMPI_Comm_size(MPI_COMM_WORLD, &maker.size));
    maker.before = (maker.rank - 1 + maker.size) % maker.size;
    maker.after = (maker.rank + 1) % maker.size;
    SK_MPI(PMPI_Dims_create(maker.size, 2, maker.dims));
    maker.map = sk_alloc((size_t)maker.size * sizeof *maker.map);
    maker.exposed = sk_alloc(sizeof *maker.exposed);
    sk_shape_map(shape, maker.size, seed, maker.map);
    SK_MPI(PMPI_Comm_group(MPI_COMM_WORLD, &all));
    SK_MPI(PMPI_Group_incl(all, maker.size, maker.map, &maker.group));
    SK_MPI(PMPI_Group_free(&all));
    return maker;
}

void sk_maker_free(struct sk_maker *maker)
{
    SK_MPI(PMPI_Group_free(&maker->group));
    sk_free(maker->map);
    sk_free(maker->exposed);
}

int sk_object_make(const struct sk_maker *maker, union sk_object *object)
{
    return makers[maker->kind](maker, object);
}

static bool is_window(enum sk_object_kind kind)
{
    return kind == SK_OBJECT_WIN_CREATE || kind == SK_OBJECT_WIN_ALLOCATE;
}

int sk_object_free(const struct sk_maker *maker, union sk_object *object)
{
    return is_window(maker->kind) ? MPI_Win_free(&object->win) : MPI_Comm_free(&object->comm);
}

static bool comm_works(const struct sk_maker *maker, MPI_Comm comm)
{
    int rank = -1, size = -1, p = maker->size;
    int64_t mine = maker->rank, sum = -1;
    SK_MPI(PMPI_Comm_rank(comm, &rank));
    SK_MPI(PMPI_Comm_size(comm, &size));
    SK_MPI(PMPI_Allreduce(&mine, &sum, 1, MPI_INT64_T, MPI_SUM, comm));
    return size == p && rank >= 0 && rank < p && maker->map[rank] == maker->rank && sum == (int64_t)p * (p - 1) / 2;
}

/* Passes the rank on in direction 0 and looks whether it came from the right neighbour. */
static bool grid_works(const struct sk_maker *maker, MPI_Comm comm)
{
    int from = -1, to = -1, in = -1, line = maker->dims[1];
    SK_MPI(PMPI_Cart_shift(comm, 0, 1, &from, &to));
    SK_MPI(PMPI_Sendrecv(&maker->rank, 1, MPI_INT, to, 0, &in, 1, MPI_INT, from, 0, comm, MPI_STATUS_IGNORE));
    return in == from && from == (maker->rank - line + maker->size) % maker->size && comm_works(maker, comm);
}

/* Passes the rank on along the ring and looks whether it came from the process before. */
static bool ring_works(const struct sk_maker *maker, MPI_Comm comm)
{
    int in = -1;
    SK_MPI(PMPI_Neighbor_allgather(&maker->rank, 1, MPI_INT, &in, 1, MPI_INT, comm));
    return in == maker->before && comm_works(maker, comm);
}

static bool window_works(const struct sk_maker *maker, MPI_Win win)
{
    long mine = maker->rank + 1, *exposed = NULL;
    int known = 0;
    SK_MPI(PMPI_Win_get_attr(win, MPI_WIN_BASE, &exposed, &known));
    if (!known || !exposed)
        return false;
    SK_MPI(PMPI_Win_fence(0, win)); /* nobody puts before everybody's memory is cleared */
    *exposed = 0;
    SK_MPI(PMPI_Win_fence(0, win));
    SK_MPI(PMPI_Put(&mine, 1, MPI_LONG, maker->after, 0, 1, MPI_LONG, win));
    SK_MPI(PMPI_Win_fence(0, win));
    return *exposed == maker->before + 1;
}

bool sk_object_works(const struct sk_maker *maker, const union sk_object *object)
{
    if (is_window(maker->kind))
        return window_works(maker, object->win);
    if (maker->kind == SK_OBJECT_CART_CREATE)
        return grid_works(maker, object->comm);
    if (maker->kind == SK_OBJECT_DIST_GRAPH_CREATE || maker->kind == SK_OBJECT_DIST_GRAPH_CREATE_ADJACENT)
        return ring_works(maker, object->comm);
    return comm_works(maker, object->comm);
}
