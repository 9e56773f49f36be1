#include "p2p/cells.h"
#include "p2p/pair.h"
#include "tests/test.h"

#include <string.h>

enum { ROOM = 8, WHY = 400 };

void test_p2p_cells(void)
{
    struct sk_p2p_cell cells[ROOM];
    char why[WHY] = "";
    CHECK(sk_p2p_cells_read("Round_trip: 0, 8/Strided:64@1,2 / ", 2, cells, ROOM, why, WHY) == 4);
    CHECK(cells[0].kind == SK_P2P_ROUND_TRIP && cells[0].size == 0 && cells[1].size == 8);
    CHECK(cells[2].kind == SK_P2P_STRIDED && cells[2].size == 64 && cells[2].detail == 1 && cells[3].detail == 2);
    CHECK(sk_p2p_cells_read("Queued: 1,2,3,4,5 @ 0,10", 2, cells, ROOM, why, WHY) == 10);
    CHECK(sk_p2p_extent(SK_P2P_STRIDED, 64, 4, 2) == 7 * 8 * 4 + 8);
    CHECK(sk_p2p_extent(SK_P2P_STRIDED, 64, 0, 2) == 64);
    CHECK(sk_p2p_extent(SK_P2P_REDUCE, 64, 8, 2) == 64);
}

static bool refuses(const char *text, int p, const char *reason)
{
    struct sk_p2p_cell cells[ROOM];
    char why[WHY] = "";
    return sk_p2p_cells_read(text, p, cells, ROOM, why, WHY) == -1 && strstr(why, reason);
}

void test_p2p_cells_refused(void)
{
    CHECK(refuses("", 2, "there is no such kind at ''"));
    CHECK(refuses("Round_tri: 1", 2, "there is no such kind at 'Round_tri: 1'"));
    CHECK(refuses("Round_trip 1", 2, "a colon is needed at '1'"));
    CHECK(refuses("Round_trip: -1", 2, "a number is needed at '-1'"));
    CHECK(refuses("Round_trip: 1234567890123", 2, "a number is needed"));
    CHECK(refuses("Round_trip: 1 2", 2, "the text goes on at '2'"));
    CHECK(refuses("Round_trip: 1073741825", 2, "of 1073741825 B with the number 0 makes no sense"));
    CHECK(refuses("Strided: 12 @ 1", 2, "blocks have 8 B"));
    CHECK(refuses("Strided: 65536 @ 1000000", 2, "makes no sense"));
    CHECK(refuses("Pack: 64 @ 0", 2, "makes no sense"));
    CHECK(refuses("Reduce_local: 12 @ 8", 2, "makes no sense"));
    CHECK(refuses("Reduce_local: 8 @ 2", 2, "elements have 1 or 8"));
    CHECK(refuses("Perfect_matching: 8 @ 0", 3, "an even number"));
    CHECK(refuses("Queued: 0 @ 100001", 2, "makes no sense"));
}

void test_p2p_data(void)
{
    char mine[100], theirs[100];
    struct sk_pair leader = {.leads = true, .width = 8, .step = 24, .blocks = 4, .out = mine, .in = theirs};
    struct sk_pair partner = leader;
    partner.leads = false;
    partner.out = theirs;
    partner.in = mine;
    sk_pair_fill(&leader);
    CHECK(!sk_pair_check(&leader));
    char kept[100];
    memcpy(kept, mine, sizeof kept);
    sk_pair_fill(&partner);
    memcpy(mine, kept, sizeof kept);
    CHECK(sk_pair_check(&partner));
    CHECK(sk_pair_check(&leader));
    mine[79] ^= 1;
    CHECK(!sk_pair_check(&partner));
    mine[79] ^= 1;
    mine[78 - 10] ^= 1; /* between two blocks: of no account */
    CHECK(sk_pair_check(&partner));
}
