#define _POSIX_C_SOURCE 200809L
#include "masterworker/farm.h"

#include "base/alloc.h"
#include "base/check.h"
#include "masterworker/units.h"
#include "ops/work.h"
#include "time/clock.h"

#include <sched.h>
#include <string.h>

enum { TAG_UNIT = 1, TAG_STOP = 2, TAG_RESULT = 3 };
enum { IN_BUFFER = 2 }; /* units for each worker that may still be in the buffer of MPI_Bsend */
static const int64_t settled_ns = 400000, settled_crowded_ns = 1000000, settled_simulated_ns = 1000000000;

static bool posts(const struct sk_farm *farm)
{
    static const bool posting[] = {
#define SK_COLLECTING(id, name, posts, function) posts,
#include "masterworker/variants.def"
#undef SK_COLLECTING
    };
    return posting[farm->variant / SK_HANDINGS];
}

static bool leads(const struct sk_farm *farm)
{
    return farm->world->rank == 0;
}

static char *unit_of(const struct sk_farm *farm, int worker)
{
    return farm->units + (size_t)worker * farm->unit_bytes;
}

/* Where the result of a worker arrives; without posted receives all arrive in one place. */
static char *result_of(const struct sk_farm *farm, int worker)
{
    return farm->results + (posts(farm) ? (size_t)worker * farm->result_bytes : 0);
}

/* ---- handing out and collecting: what variants.def lists --------------------------------------------------------- */

static void hand_send(struct sk_farm *farm, int worker)
{
    SK_MPI(MPI_Send(unit_of(farm, worker), (int)farm->unit_bytes, MPI_BYTE, worker + 1, TAG_UNIT, MPI_COMM_WORLD));
}

static void hand_ssend(struct sk_farm *farm, int worker)
{
    SK_MPI(MPI_Ssend(unit_of(farm, worker), (int)farm->unit_bytes, MPI_BYTE, worker + 1, TAG_UNIT, MPI_COMM_WORLD));
}

static void hand_bsend(struct sk_farm *farm, int worker)
{
    SK_MPI(MPI_Bsend(unit_of(farm, worker), (int)farm->unit_bytes, MPI_BYTE, worker + 1, TAG_UNIT, MPI_COMM_WORLD));
}

static void hand_isend(struct sk_farm *farm, int worker)
{
    SK_MPI(MPI_Isend(unit_of(farm, worker), (int)farm->unit_bytes, MPI_BYTE, worker + 1, TAG_UNIT, MPI_COMM_WORLD,
                     &farm->sends[worker]));
}

static int collect_waitsome(struct sk_farm *farm)
{
    int n = 0;
    SK_MPI(MPI_Waitsome(farm->workers, farm->receives, &n, farm->found, MPI_STATUSES_IGNORE));
    return n;
}

static int collect_waitany(struct sk_farm *farm)
{
    SK_MPI(MPI_Waitany(farm->workers, farm->receives, &farm->found[0], MPI_STATUS_IGNORE));
    return 1;
}

static int collect_recv_any(struct sk_farm *farm)
{
    MPI_Status status;
    SK_MPI(MPI_Recv(farm->results, (int)farm->result_bytes, MPI_BYTE, MPI_ANY_SOURCE, TAG_RESULT, MPI_COMM_WORLD,
                    &status));
    farm->found[0] = status.MPI_SOURCE - 1;
    return 1;
}

typedef void (*handing)(struct sk_farm *farm, int worker);
typedef int (*collecting)(struct sk_farm *farm);

static handing handing_of(const struct sk_farm *farm)
{
    static const handing functions[] = {
#define SK_HANDING(id, name, function) function,
#include "masterworker/variants.def"
#undef SK_HANDING
    };
    return functions[farm->variant % SK_HANDINGS];
}

static collecting collecting_of(const struct sk_farm *farm)
{
    static const collecting functions[] = {
#define SK_COLLECTING(id, name, posts, function) function,
#include "masterworker/variants.def"
#undef SK_COLLECTING
    };
    return functions[farm->variant / SK_HANDINGS];
}

const char *const *sk_variant_names(void)
{
    enum { LENGTH = 32 };
    static char texts[SK_VARIANTS][LENGTH];
    static const char *names[SK_VARIANTS];
    static const char *const begins[] = {
#define SK_COLLECTING(id, name, posts, function) name,
#include "masterworker/variants.def"
#undef SK_COLLECTING
    };
    static const char *const ends[] = {
#define SK_HANDING(id, name, function) name,
#include "masterworker/variants.def"
#undef SK_HANDING
    };
    for (int i = 0; i < SK_VARIANTS; i++) {
        strcpy(texts[i], begins[i / SK_HANDINGS]);
        strcat(texts[i], ends[i % SK_HANDINGS]);
        names[i] = texts[i];
    }
    return names;
}

const char *sk_variant_lacks(int variant)
{
    return SK_IS_SIMULATED && variant / SK_HANDINGS == SK_COLLECT_WAITSOME
               ? "MPI_Waitsome of the simulator looks for results every 0.1 ms only"
               : NULL;
}

/* ---- the master -------------------------------------------------------------------------------------------------- */

static void post(struct sk_farm *farm, int worker)
{
    if (posts(farm))
        SK_MPI(MPI_Irecv(result_of(farm, worker), (int)farm->result_bytes, MPI_BYTE, worker + 1, TAG_RESULT,
                         MPI_COMM_WORLD, &farm->receives[worker]));
}

static void give(struct sk_farm *farm, handing hand, int worker, int64_t number, enum sk_look look)
{
    char *unit = unit_of(farm, worker);
    farm->given[worker] = number;
    if (farm->sends[worker] != MPI_REQUEST_NULL) /* its result has come, so it has gone */
        SK_MPI(MPI_Wait(&farm->sends[worker], MPI_STATUS_IGNORE));
    if (look == SK_THOROUGH)
        sk_unit_fill(unit, farm->unit_bytes, number);
    sk_unit_number(unit, farm->unit_bytes, number);
    post(farm, worker);
    hand(farm, worker);
}

/* Returns whether the result is the answer to the worker's unit, which it has no longer then. */
static bool took(struct sk_farm *farm, int worker, enum sk_look look)
{
    if (worker < 0 || worker >= farm->workers || farm->given[worker] < 0)
        return false;
    const char *result = result_of(farm, worker);
    int64_t answer = sk_unit_answer(farm->given[worker], farm->seed);
    farm->given[worker] = -1;
    return look == SK_THOROUGH ? sk_unit_is_whole(result, farm->result_bytes, answer)
                               : sk_unit_read(result, farm->result_bytes) == answer;
}

static struct sk_harvest lead(struct sk_farm *farm, enum sk_look look)
{
    handing hand = handing_of(farm);
    collecting collect = collecting_of(farm);
    struct sk_harvest harvest = {.t_ns = 0};
    int64_t next = 0, done = 0, begin = sk_clock_now();
    for (int worker = 0; worker < farm->workers && next < farm->n_units; worker++)
        give(farm, hand, worker, next++, look);
    while (done < farm->n_units) {
        int64_t before = look == SK_WATCHED ? sk_clock_now() : 0;
        int n = collect(farm);
        harvest.collect_ns += look == SK_WATCHED ? sk_clock_now() - before : 0;
        harvest.calls++;
        SK_ASSERT(n > 0);
        for (int i = 0; i < n; i++, done++) {
            harvest.wrong += !took(farm, farm->found[i], look);
            if (next < farm->n_units)
                give(farm, hand, farm->found[i], next++, look);
        }
    }
    harvest.t_ns = sk_clock_now() - begin;
    for (int worker = 0; worker < farm->workers; worker++) {
        SK_MPI(PMPI_Wait(&farm->sends[worker], MPI_STATUS_IGNORE));
        SK_MPI(PMPI_Send(NULL, 0, MPI_BYTE, worker + 1, TAG_STOP, MPI_COMM_WORLD));
    }
    return harvest;
}

/* ---- a worker ---------------------------------------------------------------------------------------------------- */

/* Returns the answer to a unit, or -1 if it is damaged: no unit has that. */
static int64_t answered(const struct sk_farm *farm, enum sk_look look)
{
    int64_t number = sk_unit_read(farm->units, farm->unit_bytes);
    bool whole = number >= 0 && (look != SK_THOROUGH || sk_unit_is_whole(farm->units, farm->unit_bytes, number));
    return whole ? sk_unit_answer(number, farm->seed) : -1;
}

static struct sk_harvest work(struct sk_farm *farm, enum sk_look look)
{
    struct sk_harvest harvest = {.t_ns = 0};
    for (;;) {
        MPI_Status status;
        SK_MPI(MPI_Recv(farm->units, (int)farm->unit_bytes, MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
        if (status.MPI_TAG == TAG_STOP)
            return harvest;
        int64_t arrived = look == SK_WATCHED ? sk_clock_now() : 0;
        sk_work(farm->rounds);
        int64_t worked = look == SK_WATCHED ? sk_clock_now() : 0;
        int64_t answer = answered(farm, look);
        if (look == SK_THOROUGH)
            sk_unit_fill(farm->results, farm->result_bytes, answer);
        sk_unit_number(farm->results, farm->result_bytes, answer);
        SK_MPI(MPI_Send(farm->results, (int)farm->result_bytes, MPI_BYTE, 0, TAG_RESULT, MPI_COMM_WORLD));
        harvest.worked_ns += worked - arrived;
        harvest.busy_ns += look == SK_WATCHED ? sk_clock_now() - arrived : 0;
    }
}

/* ---- a repetition ------------------------------------------------------------------------------------------------ */

struct sk_harvest sk_farm_run(struct sk_farm *farm, enum sk_look look)
{
    SK_MPI(PMPI_Barrier(farm->world->harness));
    struct sk_harvest harvest = leads(farm) ? lead(farm, look) : work(farm, look);
    int64_t mine[] = {harvest.busy_ns, harvest.worked_ns}, all[] = {0, 0};
    SK_MPI(PMPI_Reduce(mine, all, 2, MPI_INT64_T, MPI_SUM, 0, farm->world->harness));
    harvest.busy_ns = all[0];
    harvest.worked_ns = all[1];
    return harvest;
}

/* Passes amply the time that a result takes to come, without calling MPI; others get the processor if it is scarce. */
static void settle(const struct sk_farm *farm)
{
    bool crowded = farm->world->oversubscribed;
    if (sk_clock_is_virtual()) {
        sk_clock_sleep(settled_simulated_ns);
        return;
    }
    for (int64_t begin = sk_clock_now(); sk_clock_now() - begin < (crowded ? settled_crowded_ns : settled_ns);)
        if (crowded)
            sched_yield();
}

int64_t sk_farm_ready(struct sk_farm *farm)
{
    int64_t lasted = 0;
    if (leads(farm))
        post(farm, 0);
    SK_MPI(PMPI_Barrier(farm->world->harness));
    if (farm->world->rank == 1) {
        sk_unit_number(farm->results, farm->result_bytes, 0);
        SK_MPI(MPI_Send(farm->results, (int)farm->result_bytes, MPI_BYTE, 0, TAG_RESULT, MPI_COMM_WORLD));
    }
    if (leads(farm)) {
        settle(farm);
        int64_t begin = sk_clock_now();
        collecting_of(farm)(farm);
        lasted = sk_clock_now() - begin;
    }
    SK_MPI(PMPI_Barrier(farm->world->harness));
    return lasted;
}

void sk_farm_open(struct sk_farm *farm)
{
    int slots = leads(farm) ? farm->workers : 1;
    farm->units = sk_alloc((size_t)slots * farm->unit_bytes);
    farm->results = sk_alloc((size_t)slots * farm->result_bytes);
    farm->given = sk_alloc((size_t)slots * sizeof *farm->given);
    farm->receives = sk_alloc((size_t)slots * sizeof *farm->receives);
    farm->sends = sk_alloc((size_t)slots * sizeof *farm->sends);
    farm->found = sk_alloc((size_t)slots * sizeof *farm->found);
    farm->buffer = NULL;
    for (int slot = 0; slot < slots; slot++) {
        farm->receives[slot] = farm->sends[slot] = MPI_REQUEST_NULL;
        farm->given[slot] = -1;
    }
    if (!leads(farm) || farm->variant % SK_HANDINGS != SK_HAND_BSEND)
        return;
    int packed = 0;
    SK_MPI(PMPI_Pack_size((int)farm->unit_bytes, MPI_BYTE, MPI_COMM_WORLD, &packed));
    int64_t bytes = IN_BUFFER * (int64_t)slots * (packed + MPI_BSEND_OVERHEAD);
    SK_ASSERT(bytes <= INT32_MAX);
    farm->buffer = sk_alloc((size_t)bytes);
    SK_MPI(PMPI_Buffer_attach(farm->buffer, (int)bytes));
}

void sk_farm_close(struct sk_farm *farm)
{
    if (farm->buffer) {
        void *buffer;
        int bytes;
        SK_MPI(PMPI_Buffer_detach(&buffer, &bytes));
    }
    sk_free(farm->buffer);
    sk_free(farm->units);
    sk_free(farm->results);
    sk_free(farm->given);
    sk_free(farm->receives);
    sk_free(farm->sends);
    sk_free(farm->found);
}
