/* Who runs where: processes, nodes, cores, and the communicators of the benchmark itself. */
#ifndef SK_BASE_WORLD_H
#define SK_BASE_WORLD_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef SK_SIMULATED /* set by the Makefile when the compiler is that of a simulator */
enum { SK_IS_SIMULATED = 1 };
#else
enum { SK_IS_SIMULATED = 0 };
#endif
enum { SK_HOST_LENGTH = 256 };

struct sk_world {
    int rank, size;
    MPI_Comm harness;        /* duplicate of MPI_COMM_WORLD: all that the benchmark itself says */
    MPI_Comm node;           /* processes that share an operating system and its clock, in rank order */
    int node_rank, node_size;
    int processes_per_node;  /* largest of all nodes */
    int cores;               /* that the processes of this node may use; on process 0 and in the file: its node's */
    int bound[2];            /* fewest and most cores that a process may run on; 0 where that is not known */
    bool oversubscribed;     /* on some node there are more processes than cores */
    bool single_node;        /* all processes share one clock: on one node, or simulated */
    char *hosts;             /* process 0: size entries of SK_HOST_LENGTH bytes, in rank order */
};

/* Every process must call it, after MPI_Init; errors of MPI_COMM_WORLD are returned from then on. */
void sk_world_open(struct sk_world *world);

/* Every process must call it. Ends the program with status 3 when there are not `expected` (0: any) processes: a
 * launcher of another MPI library starts every process as a world of its own, without a word. */
void sk_world_require_size(const struct sk_world *world, int64_t expected);

/* Every process must call it, before MPI_Finalize. */
void sk_world_close(struct sk_world *world);

#endif
