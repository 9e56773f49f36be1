#include "tests/test.h"

#include "base/alloc.h"
#include "nbh/experiment.h"
#include "nbh/geometry.h"

#include <string.h>

static bool has_dims(int p, int n, const int *expected)
{
    int dims[SK_MOST_DIMS];
    sk_balanced_dims(p, n, dims);
    return memcmp(dims, expected, (size_t)n * sizeof *dims) == 0;
}

void test_nbh_dims(void)
{
    CHECK(has_dims(160, 4, (int[]){5, 4, 4, 2}));
    CHECK(has_dims(7, 2, (int[]){7, 1}));
    CHECK(has_dims(48, 2, (int[]){8, 6}));
    CHECK(has_dims(1, 3, (int[]){1, 1, 1}));
    CHECK(has_dims(9973, 1, (int[]){9973}));
    for (int p = 1; p <= 300; p++)
        for (int n = 1; n <= 5; n++) {
            int dims[SK_MOST_DIMS], product = 1;
            sk_balanced_dims(p, n, dims);
            for (int d = 0; d < n; d++) {
                product *= dims[d];
                CHECK(d == 0 || dims[d] <= dims[d - 1]);
            }
            CHECK(product == p);
        }
}

/* Lists and geometry do not know of each other: they agree on every process, or one of them is wrong. */
static void check_lists(const struct sk_neighbourhood *x)
{
    for (int rank = 0; rank < x->p; rank++) {
        struct sk_lists lists = sk_lists_new(x, rank, sk_rank_in_grid, (void *)x);
        CHECK(sk_wrong_neighbours(x, rank, lists.destinations, lists.n_out, 0) == 0);
        CHECK(sk_wrong_neighbours(x, rank, lists.sources, lists.n_in, 1) == 0);
        if (x->p > 1 && lists.n_out > 0) {
            lists.destinations[0] = (lists.destinations[0] + 1) % x->p;
            CHECK(sk_wrong_neighbours(x, rank, lists.destinations, lists.n_out, 0) == 2);
        }
        sk_lists_free(&lists);
    }
}

void test_nbh_lists(void)
{
    static const int grids[][3] = {{4, 3, 2}, {3, 2, 2}, {5, 1, 1}, {2, 1, 1}, {1, 1, 1}};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
        for (int order = SK_FMAJ; order <= SK_RAND; order++)
            for (int finite = 0; finite <= 3; finite++)
                for (int radius = 1; radius <= 2; radius++)
                    for (int topology = SK_VONNEUMANN; topology <= SK_MOORE; topology++) {
                        struct sk_neighbourhood x = {.topology = (enum sk_topology)topology, .n_dim = 3,
                                                     .n_finite = finite, .radius = radius, .seed = 5,
                                                     .order = (enum sk_neighbour_order)order};
                        memcpy(x.dims, grids[g], sizeof grids[g]);
                        x.p = grids[g][0] * grids[g][1] * grids[g][2];
                        check_lists(&x);
                    }
    for (int order = SK_RAND; order <= SK_LINEAR; order++) {
        struct sk_neighbourhood x = {.topology = SK_FULL, .p = 6, .seed = 9, .order = (enum sk_neighbour_order)order};
        check_lists(&x);
    }
}

void test_nbh_order(void)
{
    struct sk_neighbourhood x = {.topology = SK_VONNEUMANN, .n_dim = 2, .dims = {3, 4}, .p = 12, .radius = 1,
                                 .order = SK_FMAJ};
    struct sk_lists lists = sk_lists_new(&x, 5, sk_rank_in_grid, &x);
    CHECK(lists.n_out == 4 && memcmp(lists.destinations, (int[]){1, 4, 6, 9}, 4 * sizeof(int)) == 0);
    CHECK(lists.n_in == 4 && memcmp(lists.sources, (int[]){9, 6, 4, 1}, 4 * sizeof(int)) == 0);
    sk_lists_free(&lists);
    x.order = SK_LMAJ;
    lists = sk_lists_new(&x, 5, sk_rank_in_grid, &x);
    CHECK(memcmp(lists.destinations, (int[]){4, 1, 9, 6}, 4 * sizeof(int)) == 0);
    sk_lists_free(&lists);
    x = (struct sk_neighbourhood){.topology = SK_FULL, .p = 4, .order = SK_LINEAR};
    lists = sk_lists_new(&x, 1, NULL, NULL);
    CHECK(memcmp(lists.sources, (int[]){1, 2, 3, 0}, 4 * sizeof(int)) == 0);
    CHECK(memcmp(lists.destinations, (int[]){1, 0, 3, 2}, 4 * sizeof(int)) == 0);
    sk_lists_free(&lists);
    CHECK(sk_cube(1, 3) == 27 && sk_cube(1000, 16) == SK_MOST_NEIGHBOURS + 1);
}

void test_nbh_table(void)
{
    char text[] = "order,operation ,size,topology,n_dim,radius,work,experiment\r\n"
                  "rand, MPI_Ineighbor_alltoallw,16,moore,2,1,500,41\r\n\n"
                  ",MPI_Allgather,8,,,,,\n,work,,,,,77,3";
    char why[400] = "";
    struct sk_table table;
    CHECK(sk_table_read(&table, "t.csv", text, 6, 30, why, sizeof why));
    CHECK(table.n == 3 && why[0] == '\0');
    const struct sk_experiment *x = table.rows;
    CHECK(x[0].op == SK_NBH_OP_INEIGHBOR_ALLTOALLW && x[0].order == SK_RAND && x[0].radius == 1 && x[0].work == 500);
    CHECK(x[0].line == 2 && x[0].number == 41 && x[0].repetitions == 30 && x[0].constructor == SK_BY_ADJACENT);
    CHECK(x[1].line == 4 && x[1].topology == SK_FULL && x[1].constructor == SK_NOT_BUILT && x[1].size == 8);
    CHECK(x[2].op == SK_NBH_OP_WORK && x[2].work == 77 && x[2].number == 3 && x[2].topology == SK_NO_TOPOLOGY);
    struct sk_neighbourhood shape = sk_experiment_neighbourhood(&x[0], 6, 1);
    CHECK(shape.dims[0] == 3 && shape.dims[1] == 2);
    sk_table_free(&table);
}

/* Whether a row, below the usual head, is refused for p = 8 with a reason that has `part` in it. */
static bool refuses(const char *row, const char *part)
{
    char text[600] = "operation,size,topology,n_dim,n_finite,radius,order,constructor,reorder,work,datatype,"
                     "repetitions\n";
    char why[1500] = "";
    struct sk_table table;
    strncat(text, row, sizeof text - strlen(text) - 1);
    bool ok = sk_table_read(&table, "t.csv", text, 8, 30, why, sizeof why);
    sk_table_free(&table);
    return !ok && strncmp(why, "t.csv, line 2: ", 15) == 0 && strstr(why, part);
}

void test_nbh_refused(void)
{
    CHECK(refuses("MPI_Bcast,8,,,,,,,,,,", "the operation 'MPI_Bcast' is unknown"));
    CHECK(refuses(",8,,,,,,,,,,", "the operation is missing"));
    CHECK(refuses("MPI_Neighbor_alltoall,8,ring,,,,,,,,,", "the topology 'ring' is unknown; choose from cart, "));
    CHECK(refuses("MPI_Neighbor_alltoall,8,cart,0,,,,,,,,", "n_dim is '0'; a whole number from 1 to 16"));
    CHECK(refuses("MPI_Neighbor_alltoall,8,cart,2,3,,,,,,,", "n_finite is '3'; a whole number from 0 to 2"));
    CHECK(refuses("MPI_Neighbor_alltoall,8,cart,2,,1,,,,,,", "radius is '1', and cart has none"));
    CHECK(refuses("MPI_Neighbor_alltoall,8,cart,2,,,fmaj,,,,,", "the order is 'fmaj'; none is needed"));
    CHECK(refuses("MPI_Neighbor_alltoall,8,moore,3,,1,linear,,,,,", "fmaj, lmaj or rand is needed"));
    CHECK(refuses("MPI_Neighbor_alltoall,8,moore,3,,1,,,,,,", "fmaj, lmaj or rand is needed"));
    CHECK(refuses("MPI_Neighbor_alltoall,8,moore,2,,3,fmaj,,,,,", "the radius 3 is larger than the grid of 8"));
    CHECK(refuses("MPI_Neighbor_alltoall,8,full,2,,,rand,,,,,", "n_dim is '2', and full has none"));
    CHECK(refuses("MPI_Neighbor_alltoall,8,cart,2,,,,MPI_Dist_graph_create,,,,", "does not make the topology cart"));
    CHECK(refuses("MPI_Neighbor_alltoall,9,cart,2,,,,,,,int,", "no multiple of the 4 bytes of datatype int"));
    CHECK(refuses("MPI_Neighbor_alltoall,,cart,2,,,,,,,,", "size is ''; a whole number from 1"));
    CHECK(refuses("MPI_Neighbor_alltoall,2147483647,cart,2,,,,,,,,", "too large for 4 neighbours"));
    CHECK(refuses("MPI_Neighbor_alltoall,8,cart,2,,,,,,5,,", "work is '5', and MPI_Neighbor_alltoall has none"));
    CHECK(refuses("MPI_Neighbor_alltoall,8,cart,2,,,,,2,,,", "reorder is '2'; a whole number from 0 to 1"));
    CHECK(refuses("MPI_Neighbor_alltoall,8,cart,2,,,,,,,,0", "repetitions is '0'"));
    CHECK(refuses("MPI_Cart_create,8,cart,2,,,,,,,,", "size is '8', and MPI_Cart_create has none"));
    CHECK(refuses("MPI_Cart_create,,moore,2,,1,fmaj,,,,,", "MPI_Cart_create, which does not make the topology moore"));
    CHECK(refuses("MPI_Alltoall,8,moore,2,,1,fmaj,,,,,", "MPI_Alltoall needs full, or none"));
    CHECK(refuses("work,,,,,,,,,,,", "the work is missing"));
    CHECK(refuses("MPI_Neighbor_alltoall,8,cart", "there are 3 fields, and the first line names 12 columns"));
}

void test_nbh_heads(void)
{
    static const char *const texts[] = {"", "operation\n", "size\nMPI_Bcast\n", "operation,colour\n",
                                        "operation,operation\n"};
    static const char *const reasons[] = {"there are no experiments", "there are no experiments",
                                          "there is no column 'operation'", "the column 'colour' is unknown",
                                          "the column 'operation' is there twice"};
    for (int i = 0; i < 5; i++) {
        char text[100], why[400] = "";
        struct sk_table table;
        strcpy(text, texts[i]);
        CHECK(!sk_table_read(&table, "t.csv", text, 8, 30, why, sizeof why));
        CHECK(strstr(why, reasons[i]) != NULL);
        sk_table_free(&table);
    }
}
