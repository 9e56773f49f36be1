#include "tests/test.h"

#include "main/footprint.h"
#include "mem/shapes.h"
#include "mem/smaps.h"
#include "catalogue/ops.h"
#include "time/clock.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct sk_smaps unknown(void)
{
    struct sk_smaps smaps;
    for (int i = 0; i < SK_SMAPS_FIELDS; i++)
        smaps.bytes[i] = -1;
    return smaps;
}

void test_smaps_lines(void)
{
    struct sk_smaps smaps = unknown();
    sk_smaps_line(&smaps, "Pss:                 12 kB");
    sk_smaps_line(&smaps, "Pss:                 30 kB");
    sk_smaps_line(&smaps, "Private_Clean:        4 kB");
    sk_smaps_line(&smaps, "Private_Dirty:        8 kB");
    sk_smaps_line(&smaps, "Pss_Dirty:           20 kB");
    sk_smaps_line(&smaps, "VmHWM:\t    1024 kB");
    CHECK(smaps.bytes[SK_PSS] == 42 * 1024 && smaps.bytes[SK_PRIVATE] == 12 * 1024);
    CHECK(smaps.bytes[SK_PSS_DIRTY] == 20 * 1024);
    CHECK(smaps.bytes[SK_HWM] == 1048576 && smaps.bytes[SK_RSS] == -1 && smaps.bytes[SK_PSS_ANON] == -1);
    static const char *const ignored[] = {"Pss", "Pss: kB", "Pss: x", "Pss: 7", "Pss_Dirty2: 7 kB", "PssX: 9 kB", "",
                                          ":", "7f12-7f13 r-xp 00000000 08:01 42 /lib/Pss: 9 kB"};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        sk_smaps_line(&smaps, ignored[i]);
    CHECK(smaps.bytes[SK_PSS] == 42 * 1024);
}

void test_smaps_file(void)
{
    const char *path = test_path("smaps.txt");
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    if (!file)
        return;
    for (int i = 0; i < 3000; i++) /* longer than the reader's buffer, so that lines are cut */
        fprintf(file, "55d0-55d1 rw-p 00000000 00:00 0 /a/name/of/length/%0*d\nRss:  4 kB\nPss:  2 kB\n", i % 50, i);
    for (int i = 0; i < 40000; i++)
        fputc('x', file);
    fprintf(file, "\nPss: 1 kB"); /* no line break at the end */
    fclose(file);
    struct sk_smaps smaps = unknown();
    CHECK(sk_smaps_file(&smaps, path));
    CHECK(remove(path) == 0);
    CHECK(smaps.bytes[SK_RSS] == 3000 * 4096 && smaps.bytes[SK_PSS] == 3000 * 2048 + 1024);
    CHECK(!sk_smaps_file(&smaps, test_path("no such file")));
}

void test_smaps_self(void)
{
    enum { BYTES = 32 << 20 };
    struct sk_smaps before = sk_smaps_now();
    if (before.bytes[SK_PSS] < 0)
        return; /* a kernel without smaps */
    char *volatile memory = malloc(BYTES); /* volatile, or nothing is written that nobody reads */
    CHECK(memory != NULL);
    if (!memory)
        return;
    memset(memory, 1, BYTES);
    struct sk_smaps after = sk_smaps_now();
    /* pages of libraries count less while others load them, too; those of memory that only this process has do not */
    int own = after.bytes[SK_PSS_ANON] < 0 ? SK_PSS : SK_PSS_ANON;
    CHECK(after.bytes[own] - before.bytes[own] >= BYTES && after.bytes[SK_PSS] >= after.bytes[own]);
    CHECK(after.bytes[SK_RSS] >= after.bytes[SK_PSS]);
    CHECK(memory[BYTES / 2] == 1);
    free(memory);
    CHECK(sk_smaps_settled().bytes[SK_PSS] > 0);
}

void test_shapes(void)
{
    int map[9], seen[9] = {0}, other[9];
    sk_shape_map(SK_STRIDE, 5, 1, map);
    CHECK(map[0] == 0 && map[1] == 2 && map[2] == 4 && map[3] == 1 && map[4] == 3);
    sk_shape_map(SK_STRIDE, 4, 1, map);
    CHECK(map[0] == 0 && map[1] == 2 && map[2] == 1 && map[3] == 3);
    sk_shape_map(SK_REVERSE, 3, 1, map);
    CHECK(map[0] == 2 && map[1] == 1 && map[2] == 0);
    sk_shape_map(SK_IDENTITY, 3, 1, map);
    CHECK(map[0] == 0 && map[1] == 1 && map[2] == 2);
    sk_shape_map(SK_RANDOM, 9, 5, map);
    sk_shape_map(SK_RANDOM, 9, 5, other);
    for (int i = 0; i < 9; i++)
        seen[map[i]]++;
    for (int i = 0; i < 9; i++)
        CHECK(seen[i] == 1 && map[i] == other[i]);
    for (int p = 4; p <= 9; p++)
        for (uint64_t seed = 1; seed <= 20; seed++) {
            sk_shape_map(SK_RANDOM, p, seed, map);
            for (int i = 1; i < p; i++)
                CHECK(map[i] - map[i - 1] != 1 && map[i - 1] - map[i] != 1);
        }
    for (int shape = 0; shape < SK_SHAPES; shape++) {
        sk_shape_map((enum sk_shape)shape, 1, 1, map);
        CHECK(map[0] == 0);
    }
}

void test_slope(void)
{
    const double x[] = {0, 32, 64, 96, 128}, y[] = {100, 3300, 6500, 9700, 12900}, z[] = {5, 5, 5, 5, 5};
    CHECK(fabs(sk_slope(x, y, 5) - 100) < 1e-9 && fabs(sk_slope(x, z, 5)) < 1e-12 && sk_slope(x, y, 1) == 0);
}

void test_yield(void)
{
    int64_t before = sk_clock_now();
    for (int look = 0; look < 1000; look++)
        sched_yield();
    CHECK(sk_clock_now() - before >= 50 * 20000); /* every twentieth look is a sleep */
}

/* What every process of a world of `p` would do, without MPI: buffers by hand. */
static struct sk_operands by_hand(int rank, int p, enum sk_datatype datatype, int count)
{
    struct sk_operands x = {.rank = rank, .size = p, .datatype = datatype, .count = count};
    size_t bytes = (size_t)p * (size_t)count * sk_datatype_bytes(datatype);
    x.send = calloc(bytes, 1);
    x.receive = calloc(bytes, 1);
    return x;
}

static void deliver(const struct sk_operands *to, int at, const struct sk_operands *from, int block)
{
    size_t bytes = (size_t)to->count * sk_datatype_bytes(to->datatype);
    memcpy((char *)to->receive + (size_t)at * bytes, (char *)from->send + (size_t)block * bytes, bytes);
}

static void check_flow(enum sk_flow flow, enum sk_datatype datatype, int p, int count)
{
    struct sk_operands world[6];
    for (int r = 0; r < p; r++) {
        world[r] = by_hand(r, p, datatype, count);
        sk_operands_fill(&world[r], flow);
        bool has = flow == SK_FLOW_ROOT_TO_ALL && r == 0;
        bool gets = flow != SK_FLOW_NONE && (flow != SK_FLOW_ALL_TO_ROOT || r == 0);
        size_t blocks = flow == SK_FLOW_ROOT_TO_ALL ? 1 : (size_t)p;
        /* all is wrong at first */
        CHECK(sk_operands_wrong(&world[r], flow) == (gets && !has ? blocks * (size_t)count : 0));
    }
    for (int r = 0; r < p; r++) {
        for (int s = 0; s < p && flow != SK_FLOW_ROOT_TO_ALL; s++)
            deliver(&world[r], s, &world[s], flow == SK_FLOW_EXCHANGE ? r : 0);
        if (flow == SK_FLOW_ROOT_TO_ALL)
            deliver(&world[r], 0, &world[0], 0);
        CHECK(sk_operands_wrong(&world[r], flow) == 0);
        unsigned char *bytes = world[r].receive;
        bytes[0] ^= 1;
        size_t wrong = flow == SK_FLOW_NONE || (flow == SK_FLOW_ALL_TO_ROOT && r > 0) ? 0 : 1;
        CHECK(sk_operands_wrong(&world[r], flow) == wrong);
    }
    for (int r = 0; r < p; r++) {
        free(world[r].send);
        free(world[r].receive);
    }
}

void test_data_flows(void)
{
    const enum sk_flow flows[] = {SK_FLOW_NONE, SK_FLOW_ROOT_TO_ALL, SK_FLOW_ALL_TO_ROOT, SK_FLOW_ALL_TO_ALL,
                                  SK_FLOW_EXCHANGE};
    for (int p = 1; p <= 6; p++)
        for (int type = 0; type < SK_DATATYPES; type++)
            for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
                check_flow(flows[i], (enum sk_datatype)type, p, 1 + 60 * (int)i);
}

static void add(enum sk_datatype datatype, void *sum, const void *term, int count)
{
    for (int i = 0; i < count; i++)
        if (datatype == SK_BYTE)
            ((unsigned char *)sum)[i] = (unsigned char)(((unsigned char *)sum)[i] + ((const unsigned char *)term)[i]);
        else if (datatype == SK_INT)
            ((int *)sum)[i] += ((const int *)term)[i];
        else
            ((double *)sum)[i] += ((const double *)term)[i];
}

void test_data_sums(void)
{
    for (int type = 0; type < SK_DATATYPES; type++) {
        struct sk_operands root = by_hand(0, 40, (enum sk_datatype)type, 200);
        sk_operands_fill(&root, SK_FLOW_SUM_TO_ROOT);
        CHECK(sk_operands_wrong(&root, SK_FLOW_SUM_TO_ROOT) == 200);
        memset(root.receive, 0, 200 * sk_datatype_bytes((enum sk_datatype)type));
        for (int r = 0; r < 40; r++) {
            struct sk_operands other = by_hand(r, 40, (enum sk_datatype)type, 200);
            sk_operands_fill(&other, SK_FLOW_SUM_TO_ROOT);
            CHECK(r == 0 || sk_operands_wrong(&other, SK_FLOW_SUM_TO_ROOT) == 0);
            add((enum sk_datatype)type, root.receive, other.send, 200);
            free(other.send);
            free(other.receive);
        }
        CHECK(sk_operands_wrong(&root, SK_FLOW_SUM_TO_ROOT) == 0 && sk_operands_wrong(&root, SK_FLOW_SUM_TO_ALL) == 0);
        ((unsigned char *)root.receive)[0] ^= 1;
        CHECK(sk_operands_wrong(&root, SK_FLOW_SUM_TO_ALL) == 1);
        free(root.send);
        free(root.receive);
    }
}
