/* All that the layer does against what must come out of it. */
#include "base/alloc.h"
#include "base/check.h"
#include "onesided/sk1s.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS = 96, WIDTH = 2, PIECES = 5, TURNS = 60 };

static int rank, size;

/* In process r, cell k of the part that process w writes to. */
static int64_t place(int writer, int cell)
{
    return (int64_t)sizeof(double) * (writer * CELLS + cell);
}

static void check_transfers(unsigned turn)
{
    int target = (rank + (int)turn) % size;
    double out[PIECES * WIDTH * 2], in[PIECES * WIDTH * 2];
    int64_t apart = (int64_t)sizeof(double) * WIDTH * 3, bytes = (int64_t)sizeof(double) * WIDTH;
    int64_t at[PIECES], here[PIECES];
    for (int k = 0; k < PIECES; k++) {
        at[k] = place(rank, (PIECES - 1 - k) * 3 * WIDTH);
        here[k] = (int64_t)sizeof(double) * WIDTH * ((k * 2) % PIECES);
    }
    struct sk1s_layout straight = sk1s_contiguous(0, PIECES * bytes);
    struct sk1s_layout there[] = { sk1s_contiguous(place(rank, 0), PIECES * bytes),
                                   sk1s_strided(place(rank, 1), bytes, apart, PIECES), sk1s_vector(at, bytes, PIECES) };
    struct sk1s_layout local = turn % 2 ? sk1s_vector(here, bytes, PIECES) : straight;
    for (int k = 0; k < PIECES * WIDTH * 2; k++)
        out[k] = rank * 1000 + (int)turn * 10 + k;
    memset(in, 0, sizeof in);
    for (int which = 0; which < 3; which++) {
        if (turn % 3 == 0) {
            sk1s_put(target, out, local, there[which]);
            sk1s_accumulate(target, out, local, there[which]);
            sk1s_get(target, in, local, there[which]);
        } else {
            sk1s_wait(sk1s_nbput(target, out, local, there[which]));
            sk1s_nbaccumulate(target, out, local, there[which]);
            sk1s_wait_all();
            int first = sk1s_nbget(target, in, local, there[which]);
            int second = sk1s_nbget(target, in, local, there[which]);
            sk1s_wait(second);
            sk1s_wait(first);
        }
        for (int k = 0; k < PIECES * WIDTH; k++)
            SK_ASSERT(in[k] == 2 * out[k]);
    }
}

static void check_counter(int64_t at)
{
    int64_t before = sk1s_fetch_and_add(0, at, rank + 1);
    SK_ASSERT(before >= 0);
    sk1s_barrier();
    int64_t sum = sk1s_fetch_and_add(0, at, 0);
    SK_ASSERT(sum % ((int64_t)size * (size + 1) / 2) == 0);
    sk1s_barrier();
}

/* A ring: what was put before a notification is there after it. */
static void check_notifications(const double *memory, unsigned turn)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    double value = turn + 0.5;
    int64_t at = place(size, rank);
    int operation = sk1s_nbput(next, &value, sk1s_contiguous(0, sizeof value), sk1s_contiguous(at, sizeof value));
    sk1s_notify(next);
    sk1s_notify_wait(previous);
    SK_ASSERT(memory[place(size, previous) / (int64_t)sizeof(double)] == value);
    sk1s_wait(operation);
    sk1s_barrier();
}

int main(int argc, char **argv)
{
    sk_program_name("layer");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int64_t counter = place(size, size), bytes = counter + (int64_t)sizeof(int64_t);
    double *memory = sk_alloc((size_t)bytes);
    for (int again = 0; again < 2; again++) {
        memset(memory, 0, (size_t)bytes);
        sk1s_begin(MPI_COMM_WORLD, memory, bytes, argc > 1 ? argv[1] : NULL);
        for (unsigned turn = 0; turn < TURNS; turn++) {
            check_transfers(turn);
            check_counter(counter);
            check_notifications(memory, turn);
        }
        sk1s_poll();
        sk1s_nbput((rank + 1) % size, memory, sk1s_contiguous(0, 0), sk1s_contiguous(0, 0));
        sk1s_end();
    }
    sk_free(memory);
    SK_ASSERT(argc > 1 || sk_alloc_live() == 0); /* the recorder keeps some */
    if (rank == 0)
        printf("the layer: all as it must be with %d processes\n", size);
    MPI_Finalize();
    return 0;
}
