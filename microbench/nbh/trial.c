#include "nbh/trial.h"

#include "base/alloc.h"
#include "base/check.h"

#include <math.h>

enum { FEWEST = 3 };

/* One order and what became of it. */
struct batch {
    struct sk_order order;
    struct sk_sample samples[SK_BATCH];
    bool overrun[SK_BATCH];
};

/* Sends an order of at most `most` calls (0: the end), carries it out, learns from it. Returns how many. */
static int carry_out(const struct sk_trial *trial, const struct sk_sync *sync, struct sk_pacer *pacer,
                     struct sk_call_data *data, int64_t most, struct batch *batch)
{
    bool leads = sync->world->rank == 0;
    batch->order = (struct sk_order){0};
    if (leads && most > 0)
        batch->order = sk_pacer_next(pacer, sk_clock_now(), most < SK_BATCH ? (int)most : SK_BATCH);
    int n = sk_sync_carry_out(sync, &batch->order, sk_nbh_calls[trial->experiment->op], data, batch->samples);
    if (n > 0 && leads)
        sk_pacer_learn(pacer, &batch->order, batch->samples, batch->overrun);
    sk_call_data_drop(data);
    return n;
}

static void keep(struct sk_trial *trial, const struct sk_sync *sync, const struct batch *batch, int n)
{
    for (int i = 0; i < n; i++) {
        const struct sk_sample *sample = &batch->samples[i];
        trial->t_ns[trial->n] = sk_sync_duration(sync->kind, &batch->order, i, sample);
        trial->local_ns[trial->n] = sample->local_ns;
        trial->late[trial->n] = sample->late || batch->overrun[i];
        trial->n++;
    }
}

static void repeat(struct sk_trial *trial, const struct sk_sync *sync, struct sk_pacer *pacer,
                   struct sk_call_data *data, int64_t warmup, int64_t share_ns)
{
    bool leads = sync->world->rank == 0;
    int64_t wanted = trial->experiment->repetitions, end_ns = sk_clock_now() + share_ns;
    for (;;) {
        struct batch batch;
        bool in_time = sk_clock_now() < end_ns, counts = warmup <= 0;
        int64_t fewest = wanted < FEWEST ? wanted : FEWEST;
        int64_t most = counts ? (in_time ? wanted : fewest) - trial->n : in_time ? warmup : 1;
        int n = carry_out(trial, sync, pacer, data, leads && most > 0 ? most : 0, &batch);
        if (n == 0)
            break;
        if (leads && counts)
            keep(trial, sync, &batch, n);
        warmup = counts ? 0 : in_time ? warmup - n : 0;
    }
    trial->complete = trial->n >= wanted;
}

/* The ranks behind the blocks that come in and go out. */
static struct sk_lists lists_of(const struct sk_trial *trial, MPI_Comm comm)
{
    const struct sk_experiment *x = trial->experiment;
    if (sk_experiment_has_neighbours(x))
        return sk_topology_lists(comm, &trial->plan.shape, x->constructor == SK_BY_CART);
    int size;
    SK_MPI(PMPI_Comm_size(comm, &size));
    struct sk_lists lists = {.n_in = size, .n_out = size};
    lists.sources = sk_alloc((size_t)size * sizeof(int));
    lists.destinations = sk_alloc((size_t)size * sizeof(int));
    for (int i = 0; i < size; i++)
        lists.sources[i] = lists.destinations[i] = i;
    return lists;
}

/* A communicator with the topology of the experiment, or a duplicate of the world; checked. */
static MPI_Comm make_comm(struct sk_trial *trial, const struct sk_sync *sync)
{
    const struct sk_experiment *x = trial->experiment;
    MPI_Comm comm = MPI_COMM_NULL;
    if (x->topology == SK_NO_TOPOLOGY || x->constructor == SK_NOT_BUILT) {
        SK_MPI(PMPI_Comm_dup(MPI_COMM_WORLD, &comm));
        return comm;
    }
    SK_MPI(sk_plan_make(&trial->plan, &comm));
    trial->right = sk_topology_is_right(comm, &trial->plan, sync->world, &trial->moved, trial->why, sizeof trial->why);
    return comm;
}

static void run_on(struct sk_trial *trial, const struct sk_sync *sync, struct sk_pacer *pacer, MPI_Comm comm,
                   int64_t warmup, int64_t share_ns)
{
    const struct sk_experiment *x = trial->experiment;
    bool sends = x->size > 0;
    struct sk_lists lists = sends ? lists_of(trial, comm) : (struct sk_lists){0};
    struct sk_call_data data = sk_call_data_new(x, &trial->plan, comm, lists.n_in, lists.n_out);
    if (sends)
        trial->right = sk_call_is_right(x->op, &data, lists.sources, lists.destinations, sync->world, trial->why,
                                        sizeof trial->why);
    if (trial->right)
        repeat(trial, sync, pacer, &data, warmup, share_ns);
    sk_call_data_free(&data);
    sk_lists_free(&lists);
}

struct sk_trial sk_trial_run(const struct sk_experiment *experiment, const struct sk_sync *sync,
                             struct sk_pacer *pacer, uint64_t seed, int64_t warmup, int64_t share_ns)
{
    struct sk_trial trial = {.experiment = experiment, .right = true};
    size_t room = (size_t)experiment->repetitions + SK_BATCH;
    trial.t_ns = sk_alloc(room * sizeof *trial.t_ns);
    trial.local_ns = sk_alloc(room * sizeof *trial.local_ns);
    trial.late = sk_alloc(room);
    if (experiment->topology != SK_NO_TOPOLOGY && experiment->constructor != SK_NOT_BUILT)
        trial.plan = sk_plan_new(experiment, sync->world, seed);
    MPI_Comm comm = make_comm(&trial, sync);
    if (sync->kind == SK_WINDOW)
        *pacer = sk_pacer_start(sync->kind);
    if (trial.right)
        run_on(&trial, sync, pacer, comm, warmup, share_ns);
    if (comm != MPI_COMM_NULL)
        SK_MPI(PMPI_Comm_free(&comm));
    return trial;
}

void sk_trial_free(struct sk_trial *trial)
{
    sk_plan_free(&trial->plan);
    sk_free(trial->t_ns);
    sk_free(trial->local_ns);
    sk_free(trial->late);
}

/* ---- the record -------------------------------------------------------------------------------------------------- */

static void write_dims(const struct sk_neighbourhood *shape, struct sk_json *json)
{
    int by_mpi[SK_MOST_DIMS] = {0};
    SK_MPI(PMPI_Dims_create(shape->p, shape->n_dim, by_mpi));
    sk_json_begin(json, "dims", '[');
    for (int d = 0; d < shape->n_dim; d++)
        sk_json_int(json, NULL, shape->dims[d]);
    sk_json_end(json, ']');
    sk_json_begin(json, "mpi_dims", '[');
    for (int d = 0; d < shape->n_dim; d++)
        sk_json_int(json, NULL, by_mpi[d]);
    sk_json_end(json, ']');
}

static void write_topology(const struct sk_trial *trial, struct sk_json *json)
{
    const struct sk_experiment *x = trial->experiment;
    if (x->topology == SK_NO_TOPOLOGY)
        return;
    sk_json_text(json, "topology", sk_topology_names[x->topology]);
    if (x->n_dim > 0) {
        sk_json_int(json, "n_dim", x->n_dim);
        sk_json_int(json, "n_finite", x->n_finite);
    }
    if (x->radius > 0)
        sk_json_int(json, "radius", x->radius);
    if (x->order != SK_NO_ORDER)
        sk_json_text(json, "order", sk_order_names[x->order]);
    if (x->constructor == SK_NOT_BUILT)
        return;
    if (x->topology != SK_CART && sk_nbh_kinds[x->op] != SK_NBH_CREATE)
        sk_json_text(json, "constructor", sk_constructor_names[x->constructor]);
    sk_json_int(json, "reorder", x->reorder);
    sk_json_bool(json, "moved", trial->moved);
    if (x->n_dim > 0)
        write_dims(&trial->plan.shape, json);
}

static void write_experiment(const struct sk_trial *trial, struct sk_json *json, const struct sk_sync *sync)
{
    const struct sk_experiment *x = trial->experiment;
    sk_json_text(json, "op", sk_nbh_names[x->op]);
    sk_json_int(json, "experiment", x->number);
    sk_json_int(json, "line", x->line);
    sk_json_int(json, "p", sync->world->size);
    if (x->size > 0) {
        sk_json_int(json, "size_B", x->size);
        sk_json_text(json, "datatype", sk_datatype_names[x->datatype]);
    }
    if (sk_experiment_is_nonblocking(x) || sk_nbh_kinds[x->op] == SK_NBH_WORK)
        sk_json_int(json, "work", x->work);
    write_topology(trial, json);
}

void sk_trial_write(const struct sk_trial *trial, struct sk_json *json, const struct sk_sync *sync,
                    const struct sk_disturbance *seen)
{
    sk_json_begin(json, NULL, '{');
    sk_json_text(json, "rec", trial->right ? "cell" : "skip");
    write_experiment(trial, json, sync);
    if (!trial->right) {
        sk_json_text(json, "why", trial->why);
        sk_json_bool(json, "verified", false);
        sk_json_end(json, '}');
        return;
    }
    size_t n = (size_t)trial->n;
    sk_json_text(json, "sync", sk_sync_names[sync->kind]);
    sk_json_int(json, "n", trial->n);
    sk_json_ints(json, "t_ns", trial->t_ns, n);
    sk_json_ints(json, "local_ns", trial->local_ns, n);
    sk_json_begin(json, "late_at", '[');
    for (int i = 0; i < trial->n; i++)
        if (trial->late[i])
            sk_json_int(json, NULL, i);
    sk_json_end(json, ']');
    sk_json_text(json, "status", trial->complete ? "complete" : "budget");
    sk_json_bool(json, "verified", true);
    sk_disturbance_write(seen, json);
    sk_json_end(json, '}');
}
