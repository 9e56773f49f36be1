#include "tests/test.h"

#include "base/alloc.h"
#include "base/env.h"
#include "base/json.h"
#include "base/options.h"
#include "base/rng.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is(const struct sk_json *json, const char *text)
{
    return strcmp(json->text, text) == 0;
}

void test_json_values(void)
{
    struct sk_json json = {0};
    sk_json_begin(&json, NULL, '{');
    sk_json_int(&json, "a", INT64_MIN);
    sk_json_uint(&json, "b", UINT64_MAX);
    sk_json_begin(&json, "c", '[');
    sk_json_real(&json, NULL, 0.5);
    sk_json_real(&json, NULL, NAN);
    sk_json_real(&json, NULL, -INFINITY);
    sk_json_end(&json, ']');
    sk_json_bool(&json, "d", false);
    sk_json_ints(&json, "e", (int64_t[]){1, -2}, 2);
    sk_json_reals(&json, "f", NULL, 0);
    sk_json_begin(&json, "g", '{');
    sk_json_end(&json, '}');
    sk_json_raw(&json, "h", "{\n\"x\": [1]\r\n}");
    sk_json_end(&json, '}');
    CHECK(is(&json, "{\"a\":-9223372036854775808,\"b\":18446744073709551615,\"c\":[0.5,null,null],\"d\":false,"
                    "\"e\":[1,-2],\"f\":[],\"g\":{},\"h\":{ \"x\": [1]  }}"));
    CHECK(sk_json_is_object(json.text));
    sk_json_clear(&json);
    sk_json_begin(&json, NULL, '[');
    CHECK(is(&json, "["));
    sk_json_free(&json);
    CHECK(json.text == NULL);
}

static bool writes(const char *text, const char *expected)
{
    struct sk_json json = {0};
    sk_json_begin(&json, NULL, '[');
    sk_json_text(&json, NULL, text);
    sk_json_end(&json, ']');
    bool ok = strlen(expected) + 4 == json.length && strncmp(json.text + 2, expected, strlen(expected)) == 0;
    sk_json_free(&json);
    return ok;
}

void test_json_text(void)
{
    CHECK(writes("plain", "plain"));
    CHECK(writes("", ""));
    CHECK(writes("a\"b\\c/", "a\\\"b\\\\c/"));
    CHECK(writes("\n\t\x01\x7f", "\\u000a\\u0009\\u0001\\u007f"));
    CHECK(writes("\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80", "\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"));
    const char *bad = "\xEF\xBF\xBD";
    CHECK(writes("\xFF", bad));
    CHECK(writes("\x80", bad));
    CHECK(writes("\xC3", bad));              /* cut */
    CHECK(writes("\xC0", bad));              /* would be overlong */
    CHECK(writes("\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"));             /* surrogate */
    CHECK(writes("\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD")); /* above U+10FFFF */
    CHECK(writes("x\xE2\x82y", "x\xEF\xBF\xBD\xEF\xBF\xBDy"));
}

void test_json_check(void)
{
    static const char *const good[] = {"{}", " {\"a\": [1, -2.5e+3, true, false, null, \"\\u00e9\\n\"], \"b\": {}}\n",
                                       "{\"a\":0.5}"};
    static const char *const bad[] = {
        "", "[]", "1", "{", "{}x", "{} {}", "{a:1}", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":01}", "{\"a\":1.}",
        "{\"a\":+1}", "{\"a\":1e}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u12g4\"}", "{\"a\":\"\n\"}", "{\"a\":\"",
        "{\"a\":\"\\", "{\"a\":[1 2]}", "{\"a\":nul}", "{\"a\":nan}"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(sk_json_is_object(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!sk_json_is_object(bad[i]));
    char deep[2048] = "{\"a\":";
    memset(deep + 5, '[', 1000);
    CHECK(!sk_json_is_object(deep));
}

void test_rng(void)
{
    struct sk_rng a = sk_rng_seeded(7, 0), b = sk_rng_seeded(7, 0), c = sk_rng_seeded(7, 1);
    CHECK(sk_rng_next(&a) == sk_rng_next(&b));
    CHECK(sk_rng_next(&a) != sk_rng_next(&c));
    int counts[5] = {0}, items[100], seen[100] = {0};
    for (int i = 0; i < 50000; i++)
        counts[sk_rng_below(&a, 5)]++;
    for (int i = 0; i < 5; i++)
        CHECK(counts[i] > 9500 && counts[i] < 10500);
    for (int i = 0; i < 100; i++)
        items[i] = i;
    sk_rng_shuffle(&a, items, 100);
    int moved = 0;
    for (int i = 0; i < 100; i++) {
        seen[items[i]]++;
        moved += items[i] != i;
    }
    for (int i = 0; i < 100; i++)
        CHECK(seen[i] == 1);
    CHECK(moved > 80);
    sk_rng_shuffle(&a, items, 1);
    CHECK(sk_rng_below(&a, 1) == 0);
}

struct values { const char *text; int64_t count; uint64_t seed; double real; };

static bool reads(struct values *v, int argc, const char *const *argv, bool *help, char *why)
{
    const struct sk_option options[] = {{"text", "T", "a text", SK_OPTION_TEXT, &v->text, 0},
                                        {"count", "N", "a number", SK_OPTION_COUNT, &v->count, 2},
                                        {"seed", "N", "a seed", SK_OPTION_SEED, &v->seed, 0},
                                        {"real", "X", "a number", SK_OPTION_REAL, &v->real, 0}};
    char *copy[10] = {NULL};
    for (int i = 0; i < argc; i++)
        copy[i] = (char *)(uintptr_t)argv[i];
    return sk_options_read(options, 4, argc, copy, help, why, 300);
}

void test_options(void)
{
    struct values v = {"default", 3, 4, 5};
    char why[300] = "";
    bool help;
    const char *const argv[] = {"x", "--text=a=b", "--count", "12", "--seed=18446744073709551615", "--real", "1e-3"};
    CHECK(reads(&v, 7, argv, &help, why) && !help);
    CHECK(strcmp(v.text, "a=b") == 0 && v.count == 12 && v.seed == UINT64_MAX && fabs(v.real - 1e-3) < 1e-15);
    CHECK(reads(&v, 2, (const char *const[]){"x", "--text="}, &help, why) && v.text[0] == '\0');
    CHECK(reads(&v, 2, (const char *const[]){"x", "--help"}, &help, why) && help);
}

static bool refuses(const char *first, const char *second, const char *message)
{
    struct values v = {"", 3, 4, 5};
    char why[300] = "";
    bool help, ok = reads(&v, second ? 3 : 2, (const char *const[]){"x", first, second}, &help, why);
    return !ok && strcmp(why, message) == 0;
}

void test_options_refused(void)
{
    CHECK(refuses("--none", NULL, "unknown argument '--none'; see --help for the options"));
    CHECK(refuses("text", NULL, "unknown argument 'text'; see --help for the options"));
    CHECK(refuses("--", NULL, "unknown argument '--'; see --help for the options"));
    CHECK(refuses("-t", NULL, "unknown argument '-t'; see --help for the options"));
    CHECK(refuses("--text", NULL, "--text needs a value (T); see --help"));
    CHECK(refuses("--count", "1", "--count: '1' is not a whole number of at least 2; see --help"));
    CHECK(refuses("--count=9z", NULL, "--count: '9z' is not a whole number of at least 2; see --help"));
    CHECK(refuses("--count=99999999999999999999", NULL,
                  "--count: '99999999999999999999' is not a whole number of at least 2; see --help"));
    CHECK(refuses("--seed=-1", NULL, "--seed: '-1' is not a whole number from 0 to 2^64 - 1; see --help"));
    CHECK(refuses("--real=0", NULL, "--real: '0' is not a number greater than 0; see --help"));
    CHECK(refuses("--real=nan", NULL, "--real: 'nan' is not a number greater than 0; see --help"));
    CHECK(refuses("--real=", NULL, "--real: '' is not a number greater than 0; see --help"));
}

void test_choices(void)
{
    const char *const names[] = {"one", "two", "three"};
    int found[3];
    char why[100] = "";
    CHECK(sk_options_choose("n", "three,one,three", names, 3, found, why, sizeof why) == 2);
    CHECK(found[0] == 2 && found[1] == 0);
    CHECK(sk_options_choose("n", "two,on", names, 3, found, why, sizeof why) == -1);
    CHECK(strcmp(why, "--n: 'on' is not one of one, two, three") == 0);
    CHECK(sk_options_choose("n", "", names, 3, found, why, sizeof why) == -1);
    CHECK(sk_options_choose("n", "one,", names, 3, found, why, sizeof why) == -1);
    CHECK(sk_options_choose("n", "four", names, 3, found, why, 12) == -1 && strcmp(why, "--n: 'four'") == 0);
}

void test_environment_names(void)
{
    CHECK(sk_env_is_recorded("MPIR_CVAR_X") && sk_env_is_recorded("OMPI_MCA_osc") && sk_env_is_recorded("FI_PROVIDER"));
    CHECK(sk_env_is_recorded("I_MPI_PIN") && sk_env_is_recorded("SLURM_NTASKS") && sk_env_is_recorded("UCX_TLS"));
    CHECK(!sk_env_is_recorded("PATH") && !sk_env_is_recorded("HOME") && !sk_env_is_recorded("XMPIR_"));
    CHECK(!sk_env_is_recorded("SLURM_JWT") && !sk_env_is_recorded("OMPI_auth_cookie"));
    CHECK(!sk_env_is_recorded("MPICH_API_KEY") && !sk_env_is_recorded("UCX_PASSWORD"));
    CHECK(!sk_env_is_recorded("PMI_Secret"));
}

void test_read_file(void)
{
    const char *path = test_path("long.txt");
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    if (!file)
        return;
    for (int i = 0; i < 20000; i++)
        fputc('a' + i % 26, file);
    fclose(file);
    char *text = sk_env_read_file(path);
    CHECK(text && strlen(text) == 20000 && text[19999] == 'a' + 19999 % 26);
    sk_free(text);
    CHECK(remove(path) == 0);
    CHECK(sk_env_read_file(test_path("no such file")) == NULL && errno == ENOENT);
    CHECK(sk_env_read_file("/") == NULL);
}

void test_alloc(void)
{
    size_t before = sk_alloc_live();
    char *memory = sk_alloc(100);
    for (int i = 0; i < 100; i++)
        CHECK(memory[i] == 0);
    CHECK(sk_alloc_live() >= before + 100);
    memory[99] = 7;
    memory = sk_grow(memory, 100, 5000);
    CHECK(memory[99] == 7 && memory[100] == 0 && memory[4999] == 0);
    CHECK(sk_alloc_live() >= before + 5000);
    sk_free(memory);
    sk_free(sk_alloc(0));
    sk_free(NULL);
    CHECK(sk_alloc_live() == before);
}
