#include "tune/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char HEAD[] = "scalkit-rules 1";
enum { LONGEST = 256 };

static int call_of(const struct sk_offer *offer, const char *name)
{
    for (int i = 0; i < offer->calls; i++)
        if (strcmp(offer->names[i], name) == 0)
            return i;
    return -1;
}

static int substitute_of(const struct sk_offer *offer, int call, const char *use)
{
    for (int i = 0; i < offer->n; i++)
        if (offer->substitutes[i].call == call && strcmp(offer->substitutes[i].use, use) == 0)
            return i;
    return -1;
}

/* Returns what is wrong with a line in `why`, empty if nothing is. */
static void read_rule(struct sk_rule *rule, const struct sk_offer *offer, const char *line, char *why, int room)
{
    char call[64], use[128];
    int end = 0;
    *why = '\0';
    int n = sscanf(line, "%63s %127s %18lld %18lld %18lld %18lld %n", call, use, &rule->p_low, &rule->p_high,
                   &rule->bytes_low, &rule->bytes_high, &end);
    if (n != 6 || line[end] != '\0') {
        snprintf(why, (size_t)room, "a rule is a call, its substitute and four numbers, as in MPI_Bcast "
                                    "MPI_Scatter+MPI_Allgather 4 16 65536 1048576");
        return;
    }
    rule->call = call_of(offer, call);
    rule->substitute = rule->call < 0 ? -1 : substitute_of(offer, rule->call, use);
    if (rule->call < 0)
        snprintf(why, (size_t)room, "'%s' is no call that can be replaced", call);
    else if (rule->substitute < 0)
        snprintf(why, (size_t)room, "'%s' is no known substitute of %s", use, call);
    else if (rule->p_low < 1 || rule->p_low > rule->p_high || rule->bytes_low < 0 || rule->bytes_low > rule->bytes_high)
        snprintf(why, (size_t)room, "processes and bytes are two ranges, each from the lower to the higher number");
}

static int add(struct sk_rules *rules, const struct sk_offer *offer, const char *line, int number, char *why, int room)
{
    char wrong[LONGEST];
    struct sk_rule *rule = &rules->all[rules->n];
    if (rules->n == SK_MOST_RULES) {
        snprintf(why, (size_t)room, "line %d: more than %d rules", number, SK_MOST_RULES);
        return 0;
    }
    read_rule(rule, offer, line, wrong, LONGEST);
    if (*wrong) {
        snprintf(why, (size_t)room, "line %d: %s", number, wrong);
        return 0;
    }
    struct sk_rule **last = &rules->first[rule->call];
    while (*last)
        last = &(*last)->next;
    *last = rule;
    rules->n++;
    return 1;
}

int sk_rules_read(struct sk_rules *rules, const struct sk_offer *offer, const char *text, char *why, int room)
{
    *rules = (struct sk_rules){ calloc(SK_MOST_RULES, sizeof *rules->all),
                                calloc((size_t)offer->calls, sizeof *rules->first), 0 };
    if (!rules->all || !rules->first) {
        snprintf(why, (size_t)room, "there is no memory for its rules");
        return 0;
    }
    for (int number = 1; *text || number == 1; number++) {
        char line[LONGEST];
        size_t length = strcspn(text, "\n");
        if (length >= sizeof line) {
            snprintf(why, (size_t)room, "line %d is longer than %d characters", number, LONGEST - 1);
            return 0;
        }
        memcpy(line, text, length);
        line[length] = '\0';
        text += length + (text[length] == '\n');
        if (number == 1 && strcmp(line, HEAD) != 0) {
            snprintf(why, (size_t)room, "its first line is not '%s'", HEAD);
            return 0;
        }
        if (number > 1 && line[0] != '#' && line[strspn(line, " \t\r")] != '\0' &&
            !add(rules, offer, line, number, why, room))
            return 0;
    }
    return 1;
}

void sk_rules_free(struct sk_rules *rules)
{
    free(rules->all);
    free(rules->first);
    *rules = (struct sk_rules){ 0 };
}
