#include "catalogue/verify.h"

#include "base/check.h"
#include "rma/windows.h"

static void fill(const struct sk_op *op, const struct sk_operands *operands)
{
    if (sk_flow_is_one_sided(op->flow))
        sk_windows_fill(operands, op->flow);
    else
        sk_operands_fill(operands, op->flow);
    if (op->group == SK_IN_PLACE)
        sk_operands_put_in_place(operands, op->flow);
}

static long count_wrong(const struct sk_op *op, const struct sk_operands *operands)
{
    if (op->own)
        return op->check(op->own);
    if (sk_flow_is_one_sided(op->flow))
        return (long)sk_windows_wrong(operands, op->flow, sk_completion_of(op->name));
    return (long)sk_operands_wrong(operands, op->flow);
}

static bool verify_data(const struct sk_op *op, const struct sk_operands *operands, const struct sk_world *world)
{
    fill(op, operands);
    SK_MPI(PMPI_Barrier(world->harness));
    SK_MPI(sk_op_call(op, operands));
    long wrong = count_wrong(op, operands), total = 0;
    int first = wrong ? world->rank : world->size, lowest = 0;
    SK_MPI(PMPI_Reduce(&wrong, &total, 1, MPI_LONG, MPI_SUM, 0, world->harness));
    SK_MPI(PMPI_Reduce(&first, &lowest, 1, MPI_INT, MPI_MIN, 0, world->harness));
    SK_MPI(PMPI_Bcast(&total, 1, MPI_LONG, 0, world->harness));
    if (total > 0 && world->rank == 0)
        sk_say("%s gives a wrong result with %d processes: wrong elements: %ld, the first on process %d; its times "
               "are kept and marked", op->name, world->size, total, lowest);
    return total == 0;
}

/* One process enters 2 ms after the others. Returns whether somebody left before it entered. */
static bool leaks(const struct sk_op *op, const struct sk_operands *operands, const struct sk_world *world,
                  const struct sk_clock *clock, int tardy)
{
    SK_MPI(PMPI_Barrier(world->harness));
    if (world->rank == tardy)
        sk_clock_sleep(2000000);
    int64_t entered = sk_clock_global(clock, sk_clock_now()), last = 0;
    SK_MPI(sk_op_call(op, operands));
    int64_t left = sk_clock_global(clock, sk_clock_now());
    SK_MPI(PMPI_Allreduce(&entered, &last, 1, MPI_INT64_T, MPI_MAX, world->harness));
    int early = left + clock->error_ns < last, any = 0;
    SK_MPI(PMPI_Allreduce(&early, &any, 1, MPI_INT, MPI_MAX, world->harness));
    return any;
}

static bool verify_barrier(const struct sk_op *op, const struct sk_operands *operands, const struct sk_world *world,
                           const struct sk_clock *clock)
{
    for (int i = 0; i < 3; i++) {
        int tardy = i * (world->size - 1) / 2;
        if (!leaks(op, operands, world, clock, tardy))
            continue;
        if (world->rank == 0)
            sk_say("%s is no barrier with %d processes: a process left before process %d had entered; its times are "
                   "kept and marked", op->name, world->size, tardy);
        return false;
    }
    return true;
}

bool sk_verify(const struct sk_op *op, const struct sk_operands *operands, const struct sk_world *world,
               const struct sk_clock *clock)
{
    if (op->own)
        return !op->check || verify_data(op, operands, world);
    return op->flow == SK_FLOW_NONE ? verify_barrier(op, operands, world, clock) : verify_data(op, operands, world);
}
