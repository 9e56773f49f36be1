#include "onesided/serve.h"

#include "base/alloc.h"
#include "base/check.h"
#include "onesided/served.h"
#include "trace/now.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>

enum { TAG_REQUEST = 1, TAG_DATA, TAG_ANSWER, ROUNDS = 32 };

/* What travels first; the places of a vector and the data follow as messages of their own. */
struct request { int64_t kind, number, start, bytes, stride, count, has_places, value; };

/* What each MPI request stands for: the first is the one for requests of others; `answer` is -1 for data under way. */
struct pending { void *data; int answer; };
struct answer { void *data; bool is_there, is_used; };

static MPI_Comm comm = MPI_COMM_NULL;
static char *memory;
static int64_t room;
static struct request *heard; /* not static memory: a simulator may move that */
static MPI_Request *requests;
static struct pending *pending;
static struct answer *answers;
static int n_pending, pending_room, n_answers;
static int64_t *notifications, arrivals[ROUNDS];
static bool is_listening;

static int bounded(int64_t bytes)
{
    SK_ASSERT(bytes >= 0 && bytes <= INT_MAX);
    return (int)bytes;
}

static int new_pending(void *data, int answer)
{
    if (n_pending == pending_room) {
        size_t before = (size_t)pending_room, after = before ? 2 * before : 16;
        requests = sk_grow(requests, before * sizeof *requests, after * sizeof *requests);
        pending = sk_grow(pending, before * sizeof *pending, after * sizeof *pending);
        pending_room = (int)after;
    }
    pending[n_pending] = (struct pending){ data, answer };
    return n_pending++;
}

/* Sends `data`, which belongs to this file from now on. */
static void transmit(int to, int tag, void *data, int64_t bytes)
{
    int at = new_pending(data, -1);
    SK_MPI(PMPI_Isend(data, bounded(bytes), MPI_BYTE, to, tag, comm, &requests[at]));
}

static void *copy(const void *data, int64_t bytes)
{
    void *made = sk_alloc((size_t)bytes);
    if (bytes > 0)
        memcpy(made, data, (size_t)bytes);
    return made;
}

static void *received(int origin, int64_t bytes)
{
    void *data = sk_alloc((size_t)bytes);
    SK_MPI(PMPI_Recv(data, bounded(bytes), MPI_BYTE, origin, TAG_DATA, comm, MPI_STATUS_IGNORE));
    return data;
}

static void hear(void)
{
    SK_MPI(PMPI_Irecv(heard, sizeof *heard, MPI_BYTE, MPI_ANY_SOURCE, TAG_REQUEST, comm, &requests[0]));
}

static void serve_memory(int origin, const struct request *asked, const struct sk1s_layout *layout)
{
    int64_t total = sk1s_total(layout);
    SK_ASSERT(sk1s_is_within(layout, room));
    if (asked->kind == SK1S_PUT || asked->kind == SK1S_ACCUMULATE) {
        void *data = received(origin, total);
        if (asked->kind == SK1S_PUT)
            sk1s_unpack(memory, layout, data);
        else
            sk1s_add(memory, layout, data);
        sk_free(data);
        transmit(origin, TAG_ANSWER, sk_alloc(0), 0);
        return;
    }
    void *data = sk_alloc((size_t)total);
    sk1s_pack(data, memory, layout);
    if (asked->kind == SK1S_ADD) {
        int64_t sum;
        memcpy(&sum, data, sizeof sum);
        sum += asked->value;
        sk1s_unpack(memory, layout, &sum);
    }
    transmit(origin, TAG_ANSWER, data, total);
}

static void serve(int origin)
{
    struct request asked = *heard;
    struct sk1s_layout layout = { asked.start, asked.bytes, asked.stride, asked.count, NULL };
    int64_t *places = NULL, time = sk_now();
    switch (asked.kind) {
    case SK1S_NOTIFY:
        notifications[origin]++;
        break;
    case SK1S_BARRIER:
        SK_ASSERT(asked.value >= 0 && asked.value < ROUNDS);
        arrivals[asked.value]++;
        break;
    case SK1S_END:
        is_listening = false;
        break;
    default:
        sk1s_served(origin, asked.number, time);
        if (asked.has_places)
            layout.at = places = received(origin, asked.count * (int64_t)sizeof *places);
        serve_memory(origin, &asked, &layout);
        sk_free(places);
    }
    if (is_listening)
        hear();
}

/* What has to be done after a request of MPI is complete. */
static void complete(int at, int source)
{
    struct pending one = pending[at];
    if (at == 0 && is_listening) {
        serve(source);
        return;
    }
    n_pending--;
    pending[at] = pending[n_pending];
    requests[at] = requests[n_pending];
    if (one.answer >= 0)
        answers[one.answer].is_there = true;
    else
        sk_free(one.data);
}

void sk1s_serve_begin(MPI_Comm whose, void *own, int64_t bytes)
{
    int size;
    comm = whose;
    memory = own;
    room = bytes;
    SK_MPI(PMPI_Comm_size(comm, &size));
    heard = sk_alloc(sizeof *heard);
    notifications = sk_alloc((size_t)size * sizeof *notifications);
    memset(arrivals, 0, sizeof arrivals);
    is_listening = true;
    new_pending(NULL, -1);
    hear();
}

static bool has_ended(int64_t unused)
{
    (void)unused;
    return !is_listening;
}

void sk1s_serve_end(void)
{
    int rank;
    SK_MPI(PMPI_Comm_rank(comm, &rank));
    sk1s_ask(rank, SK1S_END, 0, NULL, 0, NULL);
    sk1s_serve_until(has_ended, 0);
    SK_MPI(PMPI_Waitall(n_pending - 1, requests + 1, MPI_STATUSES_IGNORE));
    for (int k = 1; k < n_pending; k++)
        sk_free(pending[k].data);
    sk_free(requests);
    sk_free(pending);
    sk_free(answers);
    sk_free(heard);
    sk_free(notifications);
    requests = NULL;
    pending = NULL;
    answers = NULL;
    n_pending = pending_room = n_answers = 0;
}

void sk1s_ask(int target, enum sk1s_request kind, int64_t number, const struct sk1s_layout *there, int64_t value,
              const void *data)
{
    struct request asked = { .kind = kind, .number = number, .value = value };
    if (there) {
        asked.start = there->start;
        asked.bytes = there->bytes;
        asked.stride = there->stride;
        asked.count = there->count;
        asked.has_places = there->at != NULL;
    }
    transmit(target, TAG_REQUEST, copy(&asked, sizeof asked), sizeof asked);
    if (there && there->at) {
        int64_t bytes = there->count * (int64_t)sizeof *there->at;
        transmit(target, TAG_DATA, copy(there->at, bytes), bytes);
    }
    if (there && data)
        transmit(target, TAG_DATA, copy(data, sk1s_total(there)), sk1s_total(there));
}

int sk1s_await(int target, int64_t bytes)
{
    int answer = 0;
    while (answer < n_answers && answers[answer].is_used)
        answer++;
    if (answer == n_answers) {
        answers = sk_grow(answers, (size_t)n_answers * sizeof *answers, (size_t)(n_answers + 1) * sizeof *answers);
        n_answers++;
    }
    answers[answer] = (struct answer){ sk_alloc((size_t)bytes), false, true };
    int at = new_pending(NULL, answer);
    SK_MPI(PMPI_Irecv(answers[answer].data, bounded(bytes), MPI_BYTE, target, TAG_ANSWER, comm, &requests[at]));
    return answer;
}

bool sk1s_has_answered(int64_t answer)
{
    return answers[answer].is_there;
}

void *sk1s_answer(int answer)
{
    return answers[answer].data;
}

void sk1s_forget(int answer)
{
    sk_free(answers[answer].data);
    answers[answer] = (struct answer){ NULL, false, false };
}

int64_t sk1s_notifications(int origin)
{
    return notifications[origin];
}

int64_t sk1s_arrivals(int round)
{
    return arrivals[round];
}

void sk1s_serve_present(void)
{
    int which, flag = 1;
    MPI_Status told;
    while (flag) {
        SK_MPI(PMPI_Testany(n_pending, requests, &which, &flag, &told));
        flag = flag && which != MPI_UNDEFINED;
        if (flag)
            complete(which, told.MPI_SOURCE);
    }
}

void sk1s_serve_until(bool (*done)(int64_t what), int64_t what)
{
    int which;
    MPI_Status told;
    while (!done(what)) {
        SK_MPI(PMPI_Waitany(n_pending, requests, &which, &told));
        SK_ASSERT(which != MPI_UNDEFINED);
        complete(which, told.MPI_SOURCE);
    }
}
