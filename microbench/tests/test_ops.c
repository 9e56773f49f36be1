#include "tests/test.h"

#include "base/alloc.h"
#include "ops/bandwidth.h"
#include "catalogue/ops.h"
#include "ops/sheet.h"
#include "ops/work.h"
#include "rma/windows.h"
#include "time/clock.h"

#include <string.h>

enum { MOST = 5, COUNT = 130 };

/* Operands of a process in a world of `p`, without MPI, with no more room than the flow needs: sanitizers see more. */
static struct sk_operands by_hand(int rank, int p, enum sk_datatype datatype, enum sk_flow flow)
{
    struct sk_operands x = {.rank = rank, .size = p, .datatype = datatype, .count = COUNT};
    struct sk_blocks room = sk_flow_room(flow, rank, p);
    size_t bytes = COUNT * sk_datatype_bytes(datatype);
    x.send = sk_alloc((size_t)room.send * bytes);
    x.receive = sk_alloc((size_t)room.receive * bytes);
    return x;
}

/* Adds block `block` of what `from` sends to the first block that `to` receives. */
static void add_block(const struct sk_operands *to, const struct sk_operands *from, int block)
{
    for (int i = 0; i < COUNT; i++) {
        int at = block * COUNT + i;
        if (to->datatype == SK_BYTE)
            ((unsigned char *)to->receive)[i] =
                (unsigned char)(((unsigned char *)to->receive)[i] + ((unsigned char *)from->send)[at]);
        else if (to->datatype == SK_INT)
            ((int *)to->receive)[i] += ((int *)from->send)[at];
        else
            ((double *)to->receive)[i] += ((double *)from->send)[at];
    }
}

/* What MPI would leave on process r. */
static void deliver(struct sk_operands *world, enum sk_flow flow, int p, int r)
{
    if (flow != SK_FLOW_SUM_ONTO)
        memset(world[r].receive, 0, COUNT * sk_datatype_bytes(world[r].datatype));
    for (int s = 0; s < p; s++) {
        bool takes = flow == SK_FLOW_SUM_TO_EACH || (flow == SK_FLOW_ROOT_TO_EACH && s == 0) ||
                     (flow == SK_FLOW_SUM_UP_TO && s <= r) || (flow == SK_FLOW_SUM_BEFORE && s < r) ||
                     (flow == SK_FLOW_ENDS && s == p - 1 - r) || (flow == SK_FLOW_SUM_ONTO && s == r);
        if (takes)
            add_block(&world[r], &world[s], flow == SK_FLOW_SUM_TO_EACH || flow == SK_FLOW_ROOT_TO_EACH ? r : 0);
    }
}

static void check_flow(enum sk_flow flow, enum sk_datatype datatype, int p)
{
    struct sk_operands world[MOST];
    for (int r = 0; r < p; r++) {
        world[r] = by_hand(r, p, datatype, flow);
        sk_operands_fill(&world[r], flow);
    }
    for (int r = 0; r < p; r++) {
        bool gets = flow == SK_FLOW_ENDS ? r == 0 || r == p - 1 : flow != SK_FLOW_SUM_BEFORE || r > 0;
        CHECK(sk_operands_wrong(&world[r], flow) == (gets ? COUNT : 0)); /* all is wrong at first */
        deliver(world, flow, p, r);
        CHECK(sk_operands_wrong(&world[r], flow) == 0);
        ((unsigned char *)world[r].receive)[sk_datatype_bytes(datatype) * COUNT - 1] ^= 1;
        CHECK(sk_operands_wrong(&world[r], flow) == (gets ? 1 : 0));
    }
    for (int r = 0; r < p; r++)
        sk_operands_free(&world[r]);
}

void test_more_flows(void)
{
    const enum sk_flow flows[] = {SK_FLOW_ROOT_TO_EACH, SK_FLOW_SUM_TO_EACH, SK_FLOW_SUM_UP_TO, SK_FLOW_SUM_BEFORE,
                                  SK_FLOW_SUM_ONTO, SK_FLOW_ENDS};
    for (int p = 1; p <= MOST; p++)
        for (int type = 0; type < SK_DATATYPES; type++)
            for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
                check_flow(flows[i], (enum sk_datatype)type, p);
}

static bool has_room(enum sk_flow flow, int rank, int send, int receive)
{
    struct sk_blocks room = sk_flow_room(flow, rank, MOST);
    return room.send == send && room.receive == receive;
}

/* No more blocks than an operation needs, and never none. */
void test_room(void)
{
    CHECK(has_room(SK_FLOW_NONE, 0, 1, 1) && has_room(SK_FLOW_OBJECT, 1, 1, 1) && has_room(SK_FLOW_ENDS, 1, 1, 1));
    CHECK(has_room(SK_FLOW_ROOT_TO_ALL, 0, 1, 1) && has_room(SK_FLOW_SUM_TO_ALL, 1, 1, 1));
    CHECK(has_room(SK_FLOW_EXCHANGE, 1, MOST, MOST) && has_room(SK_FLOW_ALL_TO_ALL, 1, 1, MOST));
    CHECK(has_room(SK_FLOW_ALL_TO_ROOT, 0, 1, MOST) && has_room(SK_FLOW_ALL_TO_ROOT, 1, 1, 1));
    CHECK(has_room(SK_FLOW_ROOT_TO_EACH, 0, MOST, 1) && has_room(SK_FLOW_ROOT_TO_EACH, 1, 1, 1));
    CHECK(has_room(SK_FLOW_SUM_TO_EACH, 1, MOST, 1) && has_room(SK_FLOW_SUM_BEFORE, 0, 1, 1));
}

void test_choose_ops(void)
{
    char why[4000] = "";
    int found[SK_OPS];
    CHECK(sk_ops_choose(sk_ops, SK_OPS, "paper", found, why, sizeof why) == 8 && found[0] == SK_OP_BARRIER);
    CHECK(sk_ops_choose(sk_ops, SK_OPS, "all", found, why, sizeof why) == SK_OPS);
    int n = sk_ops_choose(sk_ops, SK_OPS, "MPI_Scan,blocking,MPI_Scan", found, why, sizeof why);
    CHECK(n == 10 && found[0] == SK_OP_SCAN && found[1] == SK_OP_SCATTER);
    CHECK(sk_ops_choose(sk_ops, SK_OPS, "paper,nope", found, why, sizeof why) == -1);
    CHECK(strncmp(why, "--ops: 'nope' is not one of MPI_Barrier, ", 41) == 0);
    CHECK(strstr(why, ", overlap, point-to-point, bandwidth, persistent, partitioned, in-place, further, substitutes, "
                      "send-modes, rma, simple, all") != NULL);
    CHECK(sk_ops_choose(sk_ops, SK_OPS, "substitutes", found, why, sizeof why) == 10);
    CHECK(found[0] == SK_OP_GATHER_SEND_RECV);
    CHECK(sk_ops_choose(sk_ops, SK_OPS, "send-modes", found, why, sizeof why) == 13 && found[0] == SK_OP_SEND);
    CHECK(sk_ops_choose(sk_ops, SK_OPS, "rma", found, why, sizeof why) == 16 && found[0] == SK_OP_PUT_FLUSH);
    CHECK(sk_ops_choose(sk_ops, SK_OPS, "simple", found, why, sizeof why) == 6 && found[0] == SK_OP_WTIME);
    CHECK(sk_ops_choose(sk_ops, SK_OPS, "bandwidth", found, why, sizeof why) == 3 && found[0] == SK_OP_BW);
    CHECK(sk_ops_choose(sk_ops, SK_OPS, "persistent", found, why, sizeof why) == 13);
    CHECK(sk_ops_choose(sk_ops, SK_OPS, "in-place,partitioned", found, why, sizeof why) == 13);
    for (int i = 0; i < SK_OPS; i++) { /* an overlap is named by what it overlaps */
        const char *bracket = strchr(sk_ops[i].name, '[');
        CHECK((sk_ops[i].group == SK_OVERLAP) == (bracket && strcmp(bracket, "[overlap]") == 0));
        CHECK((sk_ops[i].group == SK_RMA) == sk_flow_is_one_sided(sk_ops[i].flow));
        CHECK((sk_ops[i].group == SK_IN_PLACE) == (bracket && strcmp(bracket, "[in-place]") == 0));
        CHECK((sk_ops[i].group == SK_PERSISTENT) == (bracket && strcmp(bracket, "[persistent]") == 0));
        CHECK(sk_op_is_round_trip(&sk_ops[i]) == (strncmp(sk_ops[i].name, "Ping_pong", 9) == 0));
        CHECK((sk_ops[i].group == SK_SIMPLE) == (bracket && strcmp(bracket, "[x1000]") == 0));
        CHECK(strstr(sk_op_definition(&sk_ops[i]), "from a common start to the end of the last process") != NULL);
    }
}

/* Each message that a process sends is one that its partner receives, into a block of its own. */
static void check_streams(enum sk_flow flow, int p)
{
    int64_t received = 0;
    for (int r = 0; r < p; r++) {
        struct sk_stream mine = sk_stream_of(flow, r, p);
        CHECK(mine.to < 0 || sk_stream_of(flow, mine.to, p).from == r);
        CHECK(mine.from < 0 || sk_stream_of(flow, mine.from, p).to == r);
        CHECK(sk_flow_room(flow, r, p).receive == (mine.from >= 0 ? SK_WINDOW_MESSAGES : 1));
        received += mine.from >= 0 ? SK_WINDOW_MESSAGES : 0;
        struct sk_operands x = by_hand(r, p, SK_INT, flow);
        sk_operands_fill(&x, flow);
        size_t elements = mine.from >= 0 ? (size_t)SK_WINDOW_MESSAGES * COUNT : 0;
        CHECK(sk_operands_wrong(&x, flow) == elements); /* every message is looked at */
        struct sk_operands partner = by_hand(mine.from >= 0 ? mine.from : 0, p, SK_INT, flow);
        sk_operands_fill(&partner, flow);
        for (size_t at = 0; at < elements; at += COUNT)
            memcpy((int *)x.receive + at, partner.send, COUNT * sizeof(int));
        CHECK(sk_operands_wrong(&x, flow) == 0);
        sk_operands_free(&x);
        sk_operands_free(&partner);
    }
    CHECK(received == sk_window_messages(flow, p));
}

void test_streams(void)
{
    for (int p = 1; p <= MOST; p++) {
        check_streams(SK_FLOW_WINDOW, p);
        check_streams(SK_FLOW_WINDOWS_BOTH_WAYS, p);
        check_streams(SK_FLOW_WINDOWS_OF_PAIRS, p);
    }
    CHECK(sk_window_messages(SK_FLOW_WINDOW, 5) == 64 && sk_window_messages(SK_FLOW_WINDOWS_BOTH_WAYS, 5) == 128);
    CHECK(sk_window_messages(SK_FLOW_WINDOWS_OF_PAIRS, 5) == 128 && sk_window_messages(SK_FLOW_SUM_TO_ALL, 5) == 0);
    CHECK(sk_stream_of(SK_FLOW_WINDOWS_BOTH_WAYS, 0, 2).to == 1);
    CHECK(sk_stream_of(SK_FLOW_WINDOWS_BOTH_WAYS, 0, 3).to == -1);
    CHECK(sk_stream_of(SK_FLOW_WINDOWS_OF_PAIRS, 4, 5).to == -1 && sk_stream_of(SK_FLOW_WINDOW, 1, 5).from == -1);
}

/* What process r gives in place is what it sends otherwise, at the place where the call takes it. */
static void check_in_place(enum sk_flow flow, int r, int block, int first)
{
    struct sk_operands x = by_hand(r, MOST, SK_INT, flow);
    sk_operands_fill(&x, flow);
    sk_operands_put_in_place(&x, flow);
    CHECK(memcmp((int *)x.receive + (size_t)block * COUNT, (int *)x.send + (size_t)first * COUNT,
                 COUNT * sizeof(int)) == 0);
    sk_operands_free(&x);
}

void test_in_place(void)
{
    check_in_place(SK_FLOW_SUM_TO_ALL, 3, 0, 0);
    check_in_place(SK_FLOW_SUM_TO_ROOT, 0, 0, 0);
    check_in_place(SK_FLOW_ALL_TO_ALL, 3, 3, 0);
    check_in_place(SK_FLOW_ALL_TO_ROOT, 0, 0, 0);
    check_in_place(SK_FLOW_EXCHANGE, 2, 4, 4);
    check_in_place(SK_FLOW_SUM_TO_EACH_IN_PLACE, 2, 0, 0);
    check_flow(SK_FLOW_SUM_TO_EACH, SK_INT, MOST);
    CHECK(has_room(SK_FLOW_SUM_TO_EACH_IN_PLACE, 2, 1, MOST));
}

/* What MPI_Compare_and_swap does to what lies there; returns whether it swapped. */
static bool exchange(int64_t *there, struct sk_words *words)
{
    words->fetched = *there;
    bool swaps = *there == words->expected;
    *there = swaps ? words->own : *there;
    sk_words_follow(words);
    return swaps && *there != words->fetched;
}

/* Each exchange swaps, but for the first after something else was written there. */
void test_exchanges(void)
{
    struct sk_words words = {.own = 1, .expected = 2, .fetched = -1};
    int64_t there = 2;
    for (int i = 0; i < 5; i++)
        CHECK(exchange(&there, &words));
    for (int64_t other = 0; other < 5; other++) {
        there = other;
        exchange(&there, &words);
        for (int i = 0; i < 3; i++)
            CHECK(exchange(&there, &words));
    }
}

void test_work(void)
{
    CHECK(sk_work_rounds(0) == 0 && sk_work_rounds(-5) == 0 && sk_work_rounds(1000) > 0);
    int64_t rounds = sk_work_rounds(3000000), begin = sk_clock_now();
    sk_work(rounds);
    CHECK(sk_clock_now() - begin >= 500000); /* the compiler has not left it out */
    sk_work(0);
}

/* Sums of bytes never pass 255, however many processes there are. The time grows with the square of their number. */
void test_sums_of_bytes(void)
{
    const int larger[] = {127, 128, 129, 254, 255, 256, 257, 1000};
    const int n_small = 20, n_larger = sizeof larger / sizeof *larger;
    for (int k = 0; k < n_small + n_larger; k++) {
        int p = k < n_small ? k + 1 : larger[k - n_small];
        int sum[COUNT] = {0};
        for (int r = 0; r < p; r++) {
            struct sk_operands x = by_hand(r, p, SK_BYTE, SK_FLOW_SUM_TO_ALL);
            sk_operands_fill(&x, SK_FLOW_SUM_TO_ALL);
            for (int i = 0; i < COUNT; i++)
                sum[i] += ((unsigned char *)x.send)[i];
            sk_operands_free(&x);
        }
        for (int i = 0; i < COUNT; i++)
            CHECK(sum[i] > 0 && sum[i] <= 255);
    }
}

/* A send buffer that shows a sheet holds what plain memory holds, also after somebody wrote into it. */
static void check_sheet(enum sk_flow flow, enum sk_datatype datatype, int rank)
{
    struct sk_operands plain = {.rank = rank, .size = MOST, .datatype = datatype}, shown;
    size_t block = 2 * sk_sheet_page(), bytes = MOST * block;
    plain.count = (int)(block / sk_datatype_bytes(datatype));
    plain.send = sk_alloc(bytes);
    plain.receive = sk_alloc(bytes);
    shown = plain;
    shown.send = sk_sheet_room(shown.sheet_bytes = bytes);
    shown.receive = sk_alloc(bytes);
    size_t filled = (size_t)sk_flow_room(flow, rank, MOST).send * block;
    for (int round = 0; round < 2; round++) {
        sk_operands_fill(&plain, flow);
        sk_operands_fill(&shown, flow);
        CHECK(memcmp(plain.send, shown.send, filled) == 0);
        memset(shown.send, 0, bytes);
        CHECK(memcmp(plain.send, shown.send, filled) != 0);
    }
    sk_operands_free(&plain);
    sk_operands_free(&shown);
}

void test_sheets(void)
{
    const enum sk_flow flows[] = {SK_FLOW_EXCHANGE, SK_FLOW_ROOT_TO_EACH, SK_FLOW_SUM_TO_EACH, SK_FLOW_ALL_TO_ALL};
    for (int type = 0; type < SK_DATATYPES; type++)
        for (int rank = 0; rank < MOST; rank++)
            for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
                check_sheet(flows[i], (enum sk_datatype)type, rank);
}
