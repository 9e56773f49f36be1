#include "rma/operations.h"

#include "ops/data.h"
#include "rma/windows.h"

typedef int (*transfer)(const struct sk_operands *x, int to, MPI_Win window);

/* ---- transfers --------------------------------------------------------------------------------------------------- */

static int put(const struct sk_operands *x, int to, MPI_Win window)
{
    return MPI_Put(x->send, x->count, x->type, to, 0, x->count, x->type, window);
}

static int get(const struct sk_operands *x, int to, MPI_Win window)
{
    return MPI_Get(x->receive, x->count, x->type, to, 0, x->count, x->type, window);
}

static int accumulate(const struct sk_operands *x, int to, MPI_Win window)
{
    return MPI_Accumulate(x->send, x->count, x->sum_type, to, 0, x->count, x->sum_type, MPI_SUM, window);
}

static int get_accumulate(const struct sk_operands *x, int to, MPI_Win window)
{
    return MPI_Get_accumulate(x->send, x->count, x->sum_type, x->receive, x->count, x->sum_type, to, 0, x->count,
                              x->sum_type, MPI_SUM, window);
}

static int fetch_and_op(const struct sk_operands *x, int to, MPI_Win window)
{
    struct sk_words *words = &x->windows->words;
    return MPI_Fetch_and_op(&words->own, &words->fetched, MPI_INT64_T, to, 0, MPI_SUM, window);
}

static int compare_and_swap(const struct sk_operands *x, int to, MPI_Win window)
{
    struct sk_words *words = &x->windows->words;
    return MPI_Compare_and_swap(&words->own, &words->expected, &words->fetched, MPI_INT64_T, to, 0, window);
}

/* ---- completions ------------------------------------------------------------------------------------------------- */

static int flush(const struct sk_operands *x, transfer moves)
{
    int to = x->size - 1;
    MPI_Win window = x->windows->of[SK_FLUSH];
    if (x->rank != 0)
        return MPI_SUCCESS;
    int status = moves(x, to, window);
    return status == MPI_SUCCESS ? MPI_Win_flush(to, window) : status;
}

static int lock(const struct sk_operands *x, transfer moves)
{
    int to = x->size - 1;
    MPI_Win window = x->windows->of[SK_LOCK];
    if (x->rank != 0)
        return MPI_SUCCESS;
    int status = MPI_Win_lock(MPI_LOCK_SHARED, to, 0, window);
    if (status == MPI_SUCCESS)
        status = moves(x, to, window);
    return status == MPI_SUCCESS ? MPI_Win_unlock(to, window) : status;
}

static int fence(const struct sk_operands *x, transfer moves)
{
    MPI_Win window = x->windows->of[SK_FENCE];
    int status = MPI_Win_fence(0, window);
    if (status == MPI_SUCCESS && x->rank == 0)
        status = moves(x, x->size - 1, window);
    return status == MPI_SUCCESS ? MPI_Win_fence(0, window) : status;
}

static int pscw(const struct sk_operands *x, transfer moves)
{
    const struct sk_windows *all = x->windows;
    MPI_Win window = all->of[SK_PSCW];
    bool is_target = x->rank == x->size - 1;
    int status = is_target ? MPI_Win_post(all->origin, 0, window) : MPI_SUCCESS;
    if (status == MPI_SUCCESS && x->rank == 0) {
        status = MPI_Win_start(all->target, 0, window);
        if (status == MPI_SUCCESS)
            status = moves(x, x->size - 1, window);
        if (status == MPI_SUCCESS)
            status = MPI_Win_complete(window);
    }
    return status == MPI_SUCCESS && is_target ? MPI_Win_wait(window) : status;
}

#define SK_ONE_SIDED(moves, completes)                                                                                 \
    int sk_##moves##_##completes(const void *operands)                                                                 \
    {                                                                                                                  \
        return completes(operands, moves);                                                                             \
    }

SK_ONE_SIDED(put, flush)
SK_ONE_SIDED(put, fence)
SK_ONE_SIDED(put, pscw)
SK_ONE_SIDED(put, lock)
SK_ONE_SIDED(get, flush)
SK_ONE_SIDED(get, fence)
SK_ONE_SIDED(get, pscw)
SK_ONE_SIDED(get, lock)
SK_ONE_SIDED(accumulate, flush)
SK_ONE_SIDED(accumulate, fence)
SK_ONE_SIDED(accumulate, lock)
SK_ONE_SIDED(get_accumulate, flush)
SK_ONE_SIDED(fetch_and_op, flush)
SK_ONE_SIDED(fetch_and_op, lock)

static int swapped(const struct sk_operands *x, int status)
{
    sk_words_follow(&x->windows->words);
    return status;
}

int sk_compare_and_swap_flush(const void *operands)
{
    return swapped(operands, flush(operands, compare_and_swap));
}

int sk_compare_and_swap_lock(const void *operands)
{
    return swapped(operands, lock(operands, compare_and_swap));
}
