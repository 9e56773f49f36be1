/* Communicators with neighbours: what the constructors get, and what they made of it. */
#ifndef SK_NBH_TOPOLOGY_H
#define SK_NBH_TOPOLOGY_H

#include "base/world.h"
#include "nbh/experiment.h"

#include <mpi.h>

/* Everything that a constructor is called with, of this process. */
struct sk_plan {
    struct sk_neighbourhood shape;
    enum sk_constructor constructor;
    int rank, reorder, periods[SK_MOST_DIMS];
    int *unweighted;       /* MPI_UNWEIGHTED, which is no array: compilers warn where they see that */
    struct sk_lists lists; /* of graphs: in the order of the experiment, by an intermediate Cartesian communicator */
};

/* Every process must call it. The caller frees with sk_plan_free. */
struct sk_plan sk_plan_new(const struct sk_experiment *x, const struct sk_world *world, uint64_t seed);
void sk_plan_free(struct sk_plan *plan);

/* Calls the constructor by its MPI_ name on MPI_COMM_WORLD. Returns MPI's error code. */
int sk_plan_make(const struct sk_plan *plan, MPI_Comm *comm);

/* Returns the lists of this process as the library knows them; -1 stands for MPI_PROC_NULL. The caller frees. */
struct sk_lists sk_topology_lists(MPI_Comm comm, const struct sk_neighbourhood *shape, bool is_cart);

/* Every process must call it; all get the answer. Does the communicator have the topology of the plan? Who is whose
 * neighbour is checked by places in the grid, the order by the lists of the plan, where the standard fixes it. Says
 * in `why` what is wrong; *moved is whether some process has another rank than before. */
bool sk_topology_is_right(MPI_Comm comm, const struct sk_plan *plan, const struct sk_world *world, bool *moved,
                          char *why, size_t room);

/* Every process must call it. Returns whether `ok` everywhere; `why` of all becomes that of the lowest process that
 * says no. */
bool sk_all_agree(bool ok, const struct sk_world *world, char *why, size_t room);

#endif
