/* Every call, with types and places of every kind, under rules that name every substitute and with results checked: the
 * account at the end must say that all were followed and none differs. The layer is linked, for the sanitizers. */
#include "tune/scalkit_tune.h"

#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 5000, P = 4 };
static int from[2 * MOST * P], to[2 * MOST * P], rank, p;
static double reals[MOST], sums[MOST];

static void moved(int n, MPI_Datatype type, int root, MPI_Comm ring)
{
    MPI_Comm all = MPI_COMM_WORLD;
    void *inside = MPI_IN_PLACE;
    MPI_Bcast(from, n, type, root, all);
    MPI_Gather(from, n, type, to, n, type, root, all);
    MPI_Gather(rank == root ? inside : from, n, type, rank == root ? to : NULL, n, type, root, all);
    MPI_Scatter(from, n, type, to, n, type, root, all);
    MPI_Scatter(rank == root ? from : NULL, n, type, rank == root ? inside : to, n, type, root, all);
    MPI_Allgather(from, n, type, to, n, type, all);
    MPI_Allgather(inside, 0, MPI_DATATYPE_NULL, to, n, type, all);
    MPI_Alltoall(from, n, type, to, n, type, all);
    MPI_Alltoall(inside, 0, MPI_DATATYPE_NULL, to, n, type, all);
    MPI_Neighbor_allgather(from, n, type, to, n, type, ring);
    MPI_Neighbor_alltoall(from, n, type, to, n, type, ring);
}

static void summed(const void *send, void *receive, int n, MPI_Datatype type, int root)
{
    MPI_Comm all = MPI_COMM_WORLD;
    int is_root = rank == root;
    MPI_Allreduce(send, receive, n, type, MPI_SUM, all);
    MPI_Allreduce(MPI_IN_PLACE, receive, n, type, MPI_SUM, all);
    MPI_Reduce(send, is_root ? receive : NULL, n, type, MPI_SUM, root, all);
    MPI_Reduce(is_root ? MPI_IN_PLACE : send, is_root ? receive : NULL, n, type, MPI_SUM, root, all);
    MPI_Scan(send, receive, n, type, MPI_SUM, all);
    MPI_Scan(MPI_IN_PLACE, receive, n, type, MPI_SUM, all);
}

static int account(void)
{
    static char text[1 << 16];
    FILE *in = fopen(getenv("SCALKIT_TUNE_OUT"), "r");
    size_t n = in ? fread(text, 1, sizeof text - 1, in) : 0;
    text[n] = '\0';
    int wrong = !strstr(text, "\"checked\":true") || !strstr(text, "\"MPI_Bcast\":") || strstr(text, "\"followed\":0");
    for (const char *at = text; (at = strstr(at, "\"different\":")); at += 12)
        wrong |= at[12] != '0';
    if (in)
        fclose(in);
    if (wrong)
        fprintf(stderr, "everything: not all were followed with equal results: %s\n", text);
    return wrong;
}

/* Whether a sum of a substitute counts as another one than that of the call. */
static int differs(double expected, double got)
{
    double place[] = { 1, 0 };
    struct sk_rule rule = { 0 };
    struct sk_result result;
    sk_check_begin(&result, place, 2, MPI_DOUBLE, 1);
    place[1] = expected;
    sk_check_keep(&result);
    place[0] = 1, place[1] = got;
    sk_check_end(&result, &rule);
    return rule.different != 0;
}

static int compared(void)
{
    int wrong = differs(0.1, 0.1 + 1e-15) || differs(NAN, -NAN) || differs(INFINITY, INFINITY);
    wrong |= !differs(0.1, 0.2) || !differs(0.1, NAN) || !differs(NAN, 0.1) || !differs(INFINITY, 0.1);
    wrong |= !differs(0.1, INFINITY) || !differs(INFINITY, -INFINITY);
    if (wrong)
        fprintf(stderr, "everything: sums are compared wrongly\n");
    return wrong;
}

int main(int argc, char **argv)
{
    int counts[] = { 0, 5, 50, 500, MOST }, periodic = 1;
    MPI_Datatype apart;
    MPI_Comm ring;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Type_vector(2, 1, 2, MPI_INT, &apart);
    MPI_Type_commit(&apart);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &p, &periodic, 0, &ring);
    for (int i = 0; i < 2 * MOST * P; i++)
        from[i] = to[i] = 100000 * rank + i;
    for (int i = 0; i < MOST; i++)
        reals[i] = 1.0 / (1 + i + rank);
    for (int i = 0; i < 5; i++)
        for (int root = 0; root < p; root++) {
            moved(counts[i], MPI_INT, root, ring);
            moved(counts[i] / 2, apart, root, ring);
            summed(from, to, counts[i], MPI_INT, root);
            summed(reals, sums, counts[i], MPI_DOUBLE, root);
            MPI_Reduce_scatter_block(from, to, counts[i], MPI_INT, MPI_MAX, MPI_COMM_WORLD);
            MPI_Reduce_scatter_block(MPI_IN_PLACE, to, counts[i], MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
    int wrong = compared();
    MPI_Comm_free(&ring);
    MPI_Type_free(&apart);
    MPI_Finalize();
    return wrong || (rank == 0 && account());
}
