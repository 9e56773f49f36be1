/* The MPI objects whose memory is measured: make, use, free. */
#ifndef SK_MEM_OBJECTS_H
#define SK_MEM_OBJECTS_H

#include "mem/shapes.h"

#include <mpi.h>
#include <stdbool.h>

enum sk_object_kind {
#define SK_OBJECT(id, name, stem, group) SK_OBJECT_##id,
#include "mem/objects.def"
#undef SK_OBJECT
    SK_OBJECT_KINDS
};

extern const char *const sk_object_names[SK_OBJECT_KINDS];

enum sk_object_group { SK_OBJECTS_PAPER, SK_OBJECTS_FURTHER };
extern const enum sk_object_group sk_object_groups[SK_OBJECT_KINDS];

union sk_object { MPI_Comm comm; MPI_Win win; };

/* What is needed to make objects of one kind; made beforehand, so that it is not counted. */
struct sk_maker {
    enum sk_object_kind kind;
    enum sk_shape shape;   /* of the group, MPI_Comm_create only */
    int rank, size;        /* in MPI_COMM_WORLD */
    int before, after;     /* neighbours in the ring that is the graph */
    int *map;              /* new rank -> old rank */
    MPI_Group group;
    int dims[2];           /* of the Cartesian grid */
    long *exposed;         /* memory of the window */
    int *unweighted;       /* MPI_UNWEIGHTED, kept where compilers do not warn that it points to nothing */
};

/* Every process must call these. The caller frees the maker with sk_maker_free. */
struct sk_maker sk_maker_new(enum sk_object_kind kind, enum sk_shape shape, uint64_t seed);
void sk_maker_free(struct sk_maker *maker);

/* Makes one object, through the function's MPI_ name. Returns MPI's error code. */
int sk_object_make(const struct sk_maker *maker, union sk_object *object);

/* Returns MPI's error code. */
int sk_object_free(const struct sk_maker *maker, union sk_object *object);

/* Uses the object: ranks in order and a sum over all for a communicator, neighbours for a grid or a ring, a put to the
 * next process for a window. Returns whether this process saw what it must see. */
bool sk_object_works(const struct sk_maker *maker, const union sk_object *object);

#endif
