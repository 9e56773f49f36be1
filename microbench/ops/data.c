#include "ops/data.h"

#include "base/alloc.h"
#include "base/check.h"
#include "base/world.h"
#include "ops/sheet.h"
#include "time/clock.h"

#include <string.h>

enum { PERIOD = 97 };

const char *const sk_datatype_names[SK_DATATYPES] = {"byte", "int", "double"};

size_t sk_datatype_bytes(enum sk_datatype datatype)
{
    static const size_t bytes[SK_DATATYPES] = {1, sizeof(int), sizeof(double)};
    return bytes[datatype];
}

struct sk_operands sk_operands_new(MPI_Comm comm, enum sk_datatype datatype, size_t bytes, struct sk_blocks room)
{
    const MPI_Datatype types[SK_DATATYPES] = {MPI_BYTE, MPI_INT, MPI_DOUBLE};
    struct sk_operands x = {.comm = comm, .datatype = datatype, .type = types[datatype]};
    x.sum_type = datatype == SK_BYTE ? MPI_UINT8_T : x.type;
    x.count = (int)(bytes / sk_datatype_bytes(datatype));
    SK_MPI(PMPI_Comm_rank(comm, &x.rank));
    SK_MPI(PMPI_Comm_size(comm, &x.size));
    SK_MPI(PMPI_Dims_create(x.size, 2, x.grid));
    if (!SK_IS_SIMULATED && sk_clock_is_virtual() && room.send > 1 && bytes % sk_sheet_page() == 0)
        x.sheet_bytes = (size_t)room.send * bytes;
    x.send = x.sheet_bytes > 0 ? sk_sheet_room(x.sheet_bytes) : sk_alloc((size_t)room.send * bytes);
    x.receive = sk_alloc((size_t)room.receive * bytes);
    x.counts = sk_alloc((size_t)x.size * sizeof *x.counts);
    x.places = sk_alloc((size_t)x.size * sizeof *x.places);
    for (int i = 0; i < x.size; i++) {
        x.counts[i] = x.count;
        x.places[i] = i * x.count;
    }
    return x;
}

void sk_operands_free(struct sk_operands *operands)
{
    if (operands->sheet_bytes > 0)
        sk_sheet_room_free(operands->send, operands->sheet_bytes);
    else
        sk_free(operands->send);
    sk_free(operands->receive);
    sk_free(operands->counts);
    sk_free(operands->places);
    operands->send = operands->receive = NULL;
}

/* The value that `from` has for `to` at element i: small, so that sums are exact in every datatype, and never 0. */
static int known(int from, int to, int i)
{
    return (from % PERIOD * 31 + to % PERIOD * 17 + i % PERIOD * 7) % PERIOD + 1;
}

/* The same for a term of a sum. Libraries differ in what becomes of a byte above 255 (Open MPI stops there when it sums
 * with vector instructions), so the sum over all processes stays below that. */
static int known_term(const struct sk_operands *x, int from, int to, int i)
{
    int value = known(from, to, i), most = 255 / x->size, sparse = x->size / 255 + 1;
    if (x->datatype != SK_BYTE)
        return value;
    return most > 0 ? value % most + 1 : value % sparse == 0;
}

void sk_element_set(enum sk_datatype datatype, void *buffer, size_t i, int value)
{
    if (datatype == SK_BYTE)
        ((unsigned char *)buffer)[i] = (unsigned char)value;
    else if (datatype == SK_INT)
        ((int *)buffer)[i] = value;
    else
        ((double *)buffer)[i] = value;
}

bool sk_element_is(enum sk_datatype datatype, const void *buffer, size_t i, int value)
{
    if (datatype == SK_BYTE)
        return ((const unsigned char *)buffer)[i] == (unsigned char)value;
    if (datatype == SK_INT)
        return ((const int *)buffer)[i] == value;
    return ((const double *)buffer)[i] >= value && ((const double *)buffer)[i] <= value; /* false for NaN */
}

static void put(const struct sk_operands *x, void *buffer, size_t i, int value)
{
    sk_element_set(x->datatype, buffer, i, value);
}

struct sk_stream sk_stream_of(enum sk_flow flow, int rank, int size)
{
    struct sk_stream none = {-1, -1};
    int last = size - 1, half = size / 2, first = size > 2 ? 1 : 0;
    bool is_end = rank == first || rank == last;
    switch (flow) {
    case SK_FLOW_WINDOW: return (struct sk_stream){rank == 0 ? last : -1, rank == last ? 0 : -1};
    case SK_FLOW_WINDOWS_BOTH_WAYS: return is_end ? (struct sk_stream){first + last - rank, first + last - rank} : none;
    case SK_FLOW_WINDOWS_OF_PAIRS:
        if (size == 1)
            return (struct sk_stream){0, 0};
        if (rank < half)
            return (struct sk_stream){rank + half, -1};
        return rank < 2 * half ? (struct sk_stream){-1, rank - half} : none;
    default: return none;
    }
}

/* Blocks that this process must end with. */
static int received_blocks(const struct sk_operands *x, enum sk_flow flow)
{
    switch (flow) {
    case SK_FLOW_NONE:
    case SK_FLOW_OBJECT:
    case SK_FLOW_PUT:
    case SK_FLOW_GET:
    case SK_FLOW_ACCUMULATE:
    case SK_FLOW_GET_ACCUMULATE:
    case SK_FLOW_FETCH_AND_OP:
    case SK_FLOW_COMPARE_AND_SWAP: return 0; /* sk_windows_wrong knows */
    case SK_FLOW_ROOT_TO_ALL:
    case SK_FLOW_ROOT_TO_EACH:
    case SK_FLOW_SUM_TO_EACH:
    case SK_FLOW_SUM_TO_EACH_IN_PLACE:
    case SK_FLOW_SUM_UP_TO:
    case SK_FLOW_SUM_ONTO:
    case SK_FLOW_SUM_TO_ALL: return 1;
    case SK_FLOW_WINDOW:
    case SK_FLOW_WINDOWS_BOTH_WAYS:
    case SK_FLOW_WINDOWS_OF_PAIRS:
        return sk_stream_of(flow, x->rank, x->size).from >= 0 ? SK_WINDOW_MESSAGES : 0;
    case SK_FLOW_SUM_BEFORE: return x->rank > 0 ? 1 : 0;
    case SK_FLOW_ENDS: return x->rank == 0 || x->rank == x->size - 1 ? 1 : 0;
    case SK_FLOW_SUM_TO_ROOT: return x->rank == 0 ? 1 : 0;
    case SK_FLOW_ALL_TO_ROOT: return x->rank == 0 ? x->size : 0;
    case SK_FLOW_ALL_TO_ALL:
    case SK_FLOW_EXCHANGE: return x->size;
    }
    return 0;
}

static bool is_sum(enum sk_flow flow)
{
    return flow == SK_FLOW_SUM_TO_ROOT || flow == SK_FLOW_SUM_TO_ALL || flow == SK_FLOW_SUM_TO_EACH ||
           flow == SK_FLOW_SUM_TO_EACH_IN_PLACE || flow == SK_FLOW_SUM_UP_TO || flow == SK_FLOW_SUM_BEFORE ||
           flow == SK_FLOW_SUM_ONTO;
}

/* Does every process have a block of its own for each? */
static bool meant_for_each(enum sk_flow flow)
{
    return flow == SK_FLOW_EXCHANGE || flow == SK_FLOW_ROOT_TO_EACH || flow == SK_FLOW_SUM_TO_EACH ||
           flow == SK_FLOW_SUM_TO_EACH_IN_PLACE;
}

struct sk_blocks sk_flow_room(enum sk_flow flow, int rank, int size)
{
    const struct sk_operands x = {.rank = rank, .size = size};
    int received = received_blocks(&x, flow);
    bool sends_each = meant_for_each(flow) && (flow != SK_FLOW_ROOT_TO_EACH || rank == 0);
    if (flow == SK_FLOW_SUM_TO_EACH_IN_PLACE)
        return (struct sk_blocks){.send = 1, .receive = size};
    return (struct sk_blocks){.send = sends_each ? size : 1, .receive = received > 0 ? received : 1};
}

/* What lies in the receive buffer before an operation adds to it. */
static int known_before(const struct sk_operands *x, int i)
{
    return known_term(x, (x->rank + 1) % x->size, 0, i);
}

/* Values depend on the element's index modulo PERIOD only: so do the sums. */
static void sums(const struct sk_operands *x, enum sk_flow flow, int *sum)
{
    int end = flow == SK_FLOW_SUM_UP_TO ? x->rank + 1 : flow == SK_FLOW_SUM_BEFORE ? x->rank : x->size;
    for (int i = 0; i < PERIOD; i++) {
        sum[i] = flow == SK_FLOW_SUM_ONTO ? known_before(x, i) + known_term(x, x->rank, 0, i) : 0;
        for (int from = 0; flow != SK_FLOW_SUM_ONTO && from < end; from++)
            sum[i] += known_term(x, from, meant_for_each(flow) ? x->rank : 0, i);
    }
}

static int expected(const struct sk_operands *x, enum sk_flow flow, const int *sum, int block, int i)
{
    switch (flow) {
    case SK_FLOW_SUM_TO_ROOT:
    case SK_FLOW_SUM_TO_EACH:
    case SK_FLOW_SUM_TO_EACH_IN_PLACE:
    case SK_FLOW_SUM_UP_TO:
    case SK_FLOW_SUM_BEFORE:
    case SK_FLOW_SUM_ONTO:
    case SK_FLOW_SUM_TO_ALL: return sum[i % PERIOD];
    case SK_FLOW_ROOT_TO_EACH:
    case SK_FLOW_EXCHANGE: return known(block, x->rank, i);
    case SK_FLOW_ENDS: return known(x->size - 1 - x->rank, 0, i);
    case SK_FLOW_WINDOW:
    case SK_FLOW_WINDOWS_BOTH_WAYS:
    case SK_FLOW_WINDOWS_OF_PAIRS: return known(sk_stream_of(flow, x->rank, x->size).from, 0, i);
    default: return known(block, 0, i);
    }
}

/* ---- whole blocks: their elements repeat after PERIOD ------------------------------------------------------------ */

struct period { size_t bytes; _Alignas(double) unsigned char elements[PERIOD * sizeof(double)]; };

static struct period period_of(const struct sk_operands *x, const int *values)
{
    struct period period = {.bytes = sk_datatype_bytes(x->datatype)};
    for (int i = 0; i < PERIOD; i++)
        put(x, period.elements, (size_t)i, values[i]);
    return period;
}

static unsigned char *place(const struct sk_operands *x, void *buffer, int block, int i)
{
    return (unsigned char *)buffer + ((size_t)block * (size_t)x->count + (size_t)i) * sk_datatype_bytes(x->datatype);
}

static int shorter(const struct sk_operands *x, int i)
{
    return x->count - i < PERIOD ? x->count - i : PERIOD;
}

static void lay(const struct sk_operands *x, void *buffer, int block, const struct period *period)
{
    for (int i = 0; i < x->count; i += PERIOD)
        memcpy(place(x, buffer, block, i), period->elements, (size_t)shorter(x, i) * period->bytes);
}

static size_t count_wrong(const struct sk_operands *x, int block, const int *values, const struct period *period)
{
    size_t wrong = 0;
    for (int i = 0; i < x->count; i += PERIOD) {
        int n = shorter(x, i);
        const unsigned char *found = place(x, x->receive, block, i);
        bool is_right = memcmp(found, period->elements, (size_t)n * period->bytes) == 0;
        for (int k = 0; k < n && !is_right; k++)
            wrong += !sk_element_is(x->datatype, found, (size_t)k, values[k]);
    }
    return wrong;
}

/* Either spoils all blocks that must be received, or counts the elements that are wrong. */
static size_t visit(const struct sk_operands *x, enum sk_flow flow, bool spoil)
{
    int sum[PERIOD], values[PERIOD];
    size_t wrong = 0;
    sums(x, flow, sum);
    for (int block = 0; block < received_blocks(x, flow); block++) {
        for (int i = 0; i < PERIOD; i++)
            values[i] = expected(x, flow, sum, block, i) + spoil;
        struct period period = period_of(x, values);
        if (spoil)
            lay(x, x->receive, block, &period);
        else
            wrong += count_wrong(x, block, values, &period);
    }
    return wrong;
}

static struct period sent(const struct sk_operands *x, enum sk_flow flow, int from, int to)
{
    int values[PERIOD];
    for (int i = 0; i < PERIOD; i++)
        values[i] = is_sum(flow) ? known_term(x, from, to, i) : known(from, to, i);
    return period_of(x, values);
}

/* Fills the send buffer from one sheet, the elements that process 0 has for itself, over and over: every block is a
 * part of it, since `known` counts up by elements modulo PERIOD, a prime, so that each remainder is met at some
 * page. */
static void show_sent(const struct sk_operands *x, enum sk_flow flow, int blocks)
{
    struct period period = sent(x, flow, 0, 0);
    size_t block_bytes = (size_t)x->count * period.bytes, page = sk_sheet_page();
    int elements = (int)(page / period.bytes);
    int sheet = sk_sheet_new(period.elements, PERIOD * period.bytes, PERIOD * page + block_bytes);
    for (int block = 0; block < blocks; block++) {
        int first = 0, value = known(x->rank, meant_for_each(flow) ? block : 0, 0);
        while (known(0, 0, first * elements) != value)
            first++;
        sk_sheet_show(sheet, place(x, x->send, block, 0), block_bytes, (size_t)first);
    }
    sk_sheet_close(sheet);
}

void sk_operands_fill(const struct sk_operands *x, enum sk_flow flow)
{
    int blocks = sk_flow_room(flow, x->rank, x->size).send;
    if (x->sheet_bytes > 0)
        show_sent(x, flow, blocks);
    for (int block = 0; x->sheet_bytes == 0 && block < blocks; block++) {
        struct period period = sent(x, flow, x->rank, meant_for_each(flow) ? block : 0);
        lay(x, x->send, block, &period);
    }
    visit(x, flow, true);
    for (int i = 0; flow == SK_FLOW_ROOT_TO_ALL && x->rank == 0 && i < x->count; i++)
        put(x, x->receive, (size_t)i, known(0, 0, i)); /* a broadcast has one buffer */
    for (int i = 0; flow == SK_FLOW_SUM_ONTO && i < x->count; i++)
        put(x, x->receive, (size_t)i, known_before(x, i));
}

/* The first block that a process gives in place, and how many there are. */
static int blocks_in_place(const struct sk_operands *x, enum sk_flow flow, int *first)
{
    bool is_rooted = flow == SK_FLOW_SUM_TO_ROOT || flow == SK_FLOW_ALL_TO_ROOT;
    *first = flow == SK_FLOW_ALL_TO_ALL ? x->rank : 0;
    if (meant_for_each(flow))
        return x->size;
    return is_rooted && x->rank > 0 ? 0 : 1;
}

void sk_operands_put_in_place(const struct sk_operands *x, enum sk_flow flow)
{
    int first, n = blocks_in_place(x, flow, &first);
    for (int block = first; block < first + n; block++) {
        struct period period = sent(x, flow, x->rank, meant_for_each(flow) ? block : 0);
        lay(x, x->receive, block, &period);
    }
}

size_t sk_operands_wrong(const struct sk_operands *operands, enum sk_flow flow)
{
    return visit(operands, flow, false);
}
