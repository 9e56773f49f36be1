#include "rma/windows.h"

#include "base/alloc.h"
#include "base/check.h"

#include <string.h>

enum { OWN_PERIOD = 97, THERE_PERIOD = 89 }; /* sums of a value of each stay below 255 */

/* What process 0 sends, or what lies there to be fetched, at element i. */
static int own(size_t i)
{
    return (int)(i % OWN_PERIOD) + 1;
}

/* What lies on process p - 1 before something is added to it. */
static int there(size_t i)
{
    return (int)(i % THERE_PERIOD) + 2;
}

bool sk_flow_is_one_sided(enum sk_flow flow)
{
    return flow >= SK_FLOW_PUT;
}

static bool is_atomic(enum sk_flow flow)
{
    return flow == SK_FLOW_FETCH_AND_OP || flow == SK_FLOW_COMPARE_AND_SWAP;
}

enum sk_completion sk_completion_of(const char *name)
{
    static const char *const names[SK_COMPLETIONS] = {"[flush]", "[fence]", "[pscw]", "[lock]"};
    int found = 0;
    while (found < SK_COMPLETIONS - 1 && !strstr(name, names[found]))
        found++;
    return (enum sk_completion)found;
}

void sk_words_follow(struct sk_words *words)
{
    int64_t left = words->fetched == words->expected ? words->own : words->fetched;
    if (words->own == left)
        words->own = words->expected;
    words->expected = left;
}

/* ---- open and close ---------------------------------------------------------------------------------------------- */

static MPI_Group group_of(MPI_Comm comm, int rank)
{
    MPI_Group all, one;
    SK_MPI(PMPI_Comm_group(comm, &all));
    SK_MPI(PMPI_Group_incl(all, 1, &rank, &one));
    SK_MPI(PMPI_Group_free(&all));
    return one;
}

void sk_windows_open(struct sk_operands *x)
{
    struct sk_windows *made = sk_alloc(sizeof *made);
    size_t block = (size_t)x->count * sk_datatype_bytes(x->datatype);
    size_t bytes = block > sizeof(int64_t) ? block : sizeof(int64_t);
    memset(made, 0, sizeof *made);
    made->origin = group_of(x->comm, 0);
    made->target = group_of(x->comm, x->size - 1);
    for (int i = 0; i < SK_COMPLETIONS; i++) {
        SK_MPI(PMPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, x->comm, &made->memory[i], &made->of[i]));
        SK_MPI(PMPI_Win_set_errhandler(made->of[i], MPI_ERRORS_RETURN));
        memset(made->memory[i], 0, bytes);
    }
    SK_MPI(PMPI_Win_lock_all(0, made->of[SK_FLUSH]));
    SK_MPI(PMPI_Win_fence(0, made->of[SK_FENCE]));
    SK_MPI(PMPI_Barrier(x->comm));
    x->windows = made;
}

void sk_windows_close(struct sk_operands *x)
{
    struct sk_windows *made = x->windows;
    if (!made)
        return;
    SK_MPI(PMPI_Win_unlock_all(made->of[SK_FLUSH]));
    SK_MPI(PMPI_Win_fence(MPI_MODE_NOSUCCEED, made->of[SK_FENCE]));
    for (int i = 0; i < SK_COMPLETIONS; i++)
        SK_MPI(PMPI_Win_free(&made->of[i]));
    SK_MPI(PMPI_Group_free(&made->origin));
    SK_MPI(PMPI_Group_free(&made->target));
    sk_free(made);
    x->windows = NULL;
}

/* ---- known contents ---------------------------------------------------------------------------------------------- */

/* Lets this process use its own memory of a window: what others left there is seen, what it writes will be. */
static void mine(const struct sk_operands *x, int completion, bool begins)
{
    MPI_Win window = x->windows->of[completion];
    if (completion == SK_FLUSH)
        SK_MPI(PMPI_Win_sync(window));
    else if (completion == SK_FENCE)
        SK_MPI(PMPI_Win_fence(0, window));
    else if (completion == SK_LOCK && begins)
        SK_MPI(PMPI_Win_lock(MPI_LOCK_EXCLUSIVE, x->rank, 0, window));
    else if (completion == SK_LOCK)
        SK_MPI(PMPI_Win_unlock(x->rank, window));
}

/* What lies in the windows before, and what must lie there afterwards. */
static int before(enum sk_flow flow, size_t i)
{
    return flow == SK_FLOW_GET ? own(i) : there(i);
}

static int after(enum sk_flow flow, size_t i)
{
    if (flow == SK_FLOW_GET || flow == SK_FLOW_PUT || flow == SK_FLOW_COMPARE_AND_SWAP)
        return own(i);
    return own(i) + there(i);
}

/* What process 0 must have fetched. */
static int fetched(enum sk_flow flow, size_t i)
{
    return before(flow, i);
}

static bool fetches(enum sk_flow flow)
{
    return flow == SK_FLOW_GET || flow == SK_FLOW_GET_ACCUMULATE;
}

void sk_windows_fill(const struct sk_operands *x, enum sk_flow flow)
{
    struct sk_windows *w = x->windows;
    size_t n = is_atomic(flow) ? 1 : (size_t)x->count;
    SK_MPI(PMPI_Barrier(x->comm)); /* process p - 1 leaves a call long before process 0 has completed it */
    w->words = (struct sk_words){.own = own(0), .expected = before(flow, 0), .fetched = -1};
    for (size_t i = 0; i < n; i++) {
        sk_element_set(x->datatype, x->send, i, own(i));
        sk_element_set(x->datatype, x->receive, i, fetched(flow, i) + 1);
    }
    for (int k = 0; k < SK_COMPLETIONS; k++) {
        mine(x, k, true);
        for (size_t i = 0; i < n && !is_atomic(flow); i++)
            sk_element_set(x->datatype, w->memory[k], i, before(flow, i));
        if (is_atomic(flow))
            *(int64_t *)w->memory[k] = before(flow, 0);
        mine(x, k, false);
    }
    SK_MPI(PMPI_Barrier(x->comm));
}

size_t sk_windows_wrong(const struct sk_operands *x, enum sk_flow flow, enum sk_completion completion)
{
    struct sk_windows *w = x->windows;
    size_t wrong = 0;
    bool is_origin = x->rank == 0, is_target = x->rank == x->size - 1;
    SK_MPI(PMPI_Barrier(x->comm)); /* process 0 has completed it */
    mine(x, completion, true);
    if (is_atomic(flow)) {
        wrong += is_target && *(int64_t *)w->memory[completion] != after(flow, 0);
        wrong += is_origin && w->words.fetched != fetched(flow, 0);
    }
    for (size_t i = 0; i < (size_t)x->count && !is_atomic(flow); i++) {
        wrong += is_target && !sk_element_is(x->datatype, w->memory[completion], i, after(flow, i));
        wrong += is_origin && fetches(flow) && !sk_element_is(x->datatype, x->receive, i, fetched(flow, i));
    }
    mine(x, completion, false);
    return wrong;
}
