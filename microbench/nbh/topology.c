#include "nbh/topology.h"

#include "base/alloc.h"
#include "base/check.h"
#include "nbh/geometry.h"

#include <stdio.h>
#include <string.h>

static int rank_by_mpi(void *grid, const int *coordinates)
{
    int rank = -1;
    SK_MPI(PMPI_Cart_rank(*(MPI_Comm *)grid, coordinates, &rank));
    return rank;
}

static struct sk_lists lists_of(const struct sk_plan *plan, const struct sk_world *world)
{
    if (plan->shape.topology == SK_FULL)
        return sk_lists_new(&plan->shape, world->rank, NULL, NULL);
    MPI_Comm grid;
    SK_MPI(PMPI_Cart_create(world->harness, plan->shape.n_dim, plan->shape.dims, plan->periods, 0, &grid));
    struct sk_lists lists = sk_lists_new(&plan->shape, world->rank, rank_by_mpi, &grid);
    SK_MPI(PMPI_Comm_free(&grid));
    return lists;
}

static int *unweighted(void)
{
    static int *volatile kept;
    kept = MPI_UNWEIGHTED;
    return kept;
}

struct sk_plan sk_plan_new(const struct sk_experiment *x, const struct sk_world *world, uint64_t seed)
{
    struct sk_plan plan = {.shape = sk_experiment_neighbourhood(x, world->size, seed), .constructor = x->constructor,
                           .rank = world->rank, .reorder = x->reorder,
                           .unweighted = unweighted()};
    for (int d = 0; d < x->n_dim; d++)
        plan.periods[d] = d >= x->n_finite;
    if (x->topology != SK_CART)
        plan.lists = lists_of(&plan, world);
    return plan;
}

void sk_plan_free(struct sk_plan *plan)
{
    sk_lists_free(&plan->lists);
}

int sk_plan_make(const struct sk_plan *plan, MPI_Comm *comm)
{
    const struct sk_lists *lists = &plan->lists;
    if (plan->constructor == SK_BY_CART)
        return MPI_Cart_create(MPI_COMM_WORLD, plan->shape.n_dim, plan->shape.dims, plan->periods, plan->reorder, comm);
    if (plan->constructor == SK_BY_ADJACENT)
        return MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, lists->n_in, lists->sources, plan->unweighted,
                                              lists->n_out, lists->destinations, plan->unweighted, MPI_INFO_NULL,
                                              plan->reorder, comm);
    return MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &plan->rank, &lists->n_out, lists->destinations, plan->unweighted,
                                 MPI_INFO_NULL, plan->reorder, comm);
}

static struct sk_lists with_room(int n_in, int n_out)
{
    struct sk_lists lists = {.n_in = n_in, .n_out = n_out};
    lists.sources = sk_alloc((size_t)n_in * sizeof(int));
    lists.destinations = sk_alloc((size_t)n_out * sizeof(int));
    return lists;
}

/* Both neighbours of each dimension, the one with the lower coordinate first, as the standard orders them. */
static struct sk_lists cart_lists(MPI_Comm comm, int n_dim)
{
    struct sk_lists lists = with_room(2 * n_dim, 2 * n_dim);
    for (int d = 0; d < n_dim; d++) {
        int below, above;
        SK_MPI(PMPI_Cart_shift(comm, d, 1, &below, &above));
        lists.sources[2 * d] = lists.destinations[2 * d] = below == MPI_PROC_NULL ? -1 : below;
        lists.sources[2 * d + 1] = lists.destinations[2 * d + 1] = above == MPI_PROC_NULL ? -1 : above;
    }
    return lists;
}

struct sk_lists sk_topology_lists(MPI_Comm comm, const struct sk_neighbourhood *shape, bool is_cart)
{
    if (is_cart)
        return cart_lists(comm, shape->n_dim);
    int n_in, n_out, is_weighted;
    SK_MPI(PMPI_Dist_graph_neighbors_count(comm, &n_in, &n_out, &is_weighted));
    struct sk_lists lists = with_room(n_in, n_out);
    SK_MPI(PMPI_Dist_graph_neighbors(comm, n_in, lists.sources, unweighted(), n_out, lists.destinations,
                                     unweighted()));
    return lists;
}

bool sk_all_agree(bool ok, const struct sk_world *world, char *why, size_t room)
{
    int mine = ok ? world->size : world->rank, first = 0;
    SK_MPI(PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, world->harness));
    if (first < world->size)
        SK_MPI(PMPI_Bcast(why, (int)room, MPI_CHAR, first, world->harness));
    return first == world->size;
}

static bool are_equal(const int *one, const int *other, int n)
{
    return n == 0 || memcmp(one, other, (size_t)n * sizeof *one) == 0;
}

/* Where a process stands in a Cartesian communicator: row-major is what the standard promises. */
static bool stands_right(MPI_Comm comm, const struct sk_neighbourhood *shape, int rank)
{
    int told[SK_MOST_DIMS], own[SK_MOST_DIMS];
    SK_MPI(PMPI_Cart_coords(comm, rank, shape->n_dim, told));
    sk_coordinates(shape, rank, own);
    return are_equal(told, own, shape->n_dim);
}

/* Both neighbours of each dimension in their order, by places. */
static bool is_cart_order(const struct sk_neighbourhood *shape, int rank, const int *list)
{
    int here[SK_MOST_DIMS];
    sk_coordinates(shape, rank, here);
    for (int i = 0; i < 2 * shape->n_dim; i++) {
        int d = i / 2, size = shape->dims[d], place = here[d] + (i % 2 ? 1 : -1), was = here[d];
        bool is_beyond = d < shape->n_finite && (place < 0 || place >= size);
        here[d] = (place % size + size) % size;
        int expected = is_beyond ? -1 : sk_rank_in_grid((void *)shape, here);
        here[d] = was;
        if (list[i] != expected)
            return false;
    }
    return true;
}

/* The lists that process `rank` of the new communicator must have: made by the process that had this rank before. */
static bool has_order(const struct sk_plan *plan, int rank, const struct sk_lists *found)
{
    struct sk_lists wanted = sk_lists_new(&plan->shape, rank, sk_rank_in_grid, (void *)&plan->shape);
    bool ok = found->n_in == wanted.n_in && found->n_out == wanted.n_out &&
              are_equal(found->sources, wanted.sources, wanted.n_in) &&
              are_equal(found->destinations, wanted.destinations, wanted.n_out);
    sk_lists_free(&wanted);
    return ok;
}

static bool check_own(MPI_Comm comm, const struct sk_plan *plan, int rank, char *why, size_t room)
{
    const struct sk_neighbourhood *shape = &plan->shape;
    bool is_cart = plan->constructor == SK_BY_CART;
    struct sk_lists found = sk_topology_lists(comm, shape, is_cart);
    const char *wrong = NULL;
    if (is_cart && !stands_right(comm, shape, rank))
        wrong = "does not stand at its place of the grid";
    else if (sk_wrong_neighbours(shape, rank, found.sources, found.n_in, 1))
        wrong = "has wrong sources";
    else if (sk_wrong_neighbours(shape, rank, found.destinations, found.n_out, 0))
        wrong = "has wrong destinations";
    else if (is_cart ? !is_cart_order(shape, rank, found.sources)
                     : plan->constructor == SK_BY_ADJACENT && !has_order(plan, rank, &found))
        wrong = "has its neighbours in a wrong order";
    if (wrong)
        snprintf(why, room, "process %d %s", rank, wrong);
    sk_lists_free(&found);
    return !wrong;
}

bool sk_topology_is_right(MPI_Comm comm, const struct sk_plan *plan, const struct sk_world *world, bool *moved,
                          char *why, size_t room)
{
    int kind = MPI_UNDEFINED, rank = -1, size = 0, same = MPI_UNEQUAL, any = 0;
    int wanted = plan->constructor == SK_BY_CART ? MPI_CART : MPI_DIST_GRAPH;
    bool has_all = comm != MPI_COMM_NULL, is_kind = false;
    if (has_all) {
        SK_MPI(PMPI_Comm_size(comm, &size));
        SK_MPI(PMPI_Topo_test(comm, &kind));
        has_all = size == world->size;
        is_kind = kind == wanted;
    }
    if (!has_all || !is_kind)
        snprintf(why, room, "the communicator has %d processes and %s topology", size,
                 is_kind ? "the right" : "no such");
    if (!sk_all_agree(has_all && is_kind, world, why, room))
        return false;
    SK_MPI(PMPI_Comm_compare(world->harness, comm, &same));
    SK_MPI(PMPI_Comm_rank(comm, &rank));
    int mine = rank != world->rank;
    SK_MPI(PMPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, world->harness));
    *moved = any != 0;
    bool ok = (same == MPI_CONGRUENT || same == MPI_SIMILAR) && (!any || plan->reorder);
    if (!ok)
        snprintf(why, room, "%s", any ? "ranks were reordered, which was not allowed" : "it has other processes");
    return sk_all_agree(ok && check_own(comm, plan, rank, why, room), world, why, room);
}
