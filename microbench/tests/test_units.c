#include "masterworker/units.h"
#include "tests/test.h"

#include <string.h>

void test_unit_numbers(void)
{
    static const size_t lengths[] = {8, 9, 15, 16, 17, 64};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        char message[64] = {0};
        size_t bytes = lengths[k];
        sk_unit_fill(message, bytes, 70000);
        sk_unit_number(message, bytes, 70000);
        CHECK(sk_unit_read(message, bytes) == 70000);
        CHECK(sk_unit_is_whole(message, bytes, 70000));
        CHECK(!sk_unit_is_whole(message, bytes, 70001));
        for (size_t i = 0; i < bytes; i++) {
            message[i] ^= 1;
            CHECK(!sk_unit_is_whole(message, bytes, 70000));
            message[i] ^= 1;
        }
        message[bytes - 1] ^= 1;
        CHECK((sk_unit_read(message, bytes) == -1) == (bytes >= 16));
    }
    char message[16];
    sk_unit_number(message, sizeof message, -1);
    CHECK(sk_unit_read(message, sizeof message) == -1);
}

void test_unit_answers(void)
{
    for (int64_t number = 0; number < 1000; number++) {
        CHECK(sk_unit_answer(number, 7) >= 0);
        CHECK(sk_unit_answer(number, 7) != sk_unit_answer(number + 1, 7));
    }
    CHECK(sk_unit_answer(3, 1) != sk_unit_answer(3, 2));
}

void test_unit_counts(void)
{
    int64_t counts[2] = {-1, -1};
    char why[200] = "";
    CHECK(sk_unit_counts("sizes", "8,64,512", 8, 1000, counts, 2, why, sizeof why) == 3);
    CHECK(counts[0] == 8 && counts[1] == 64);
    static const char *const wrong[] = {"", "8,", ",8", "7", "8 9", "x", "-8", "1001", "12345678901234567890"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        CHECK(sk_unit_counts("sizes", wrong[k], 8, 1000, counts, 2, why, sizeof why) == -1);
        CHECK(strncmp(why, "--sizes: '", 10) == 0 && strstr(why, "from 8 to 1000"));
    }
}
