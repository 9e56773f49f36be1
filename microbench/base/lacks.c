#include "base/lacks.h"

#include "base/world.h"

#include <string.h>

static const char NO_FUNCTION[] = "the simulator does not have this function";
static const char NO_TIME[] = "local calls take no time of their own in the simulator";

const char *sk_lacks(const char *op)
{
    static const struct { const char *name, *why; } missing[] = {
#define SK_LACK(name, why) {name, why},
#include "base/lacks.def"
#undef SK_LACK
    };
    for (size_t i = 0; SK_IS_SIMULATED && i < sizeof missing / sizeof *missing; i++)
        if (strncmp(op, missing[i].name, strlen(missing[i].name)) == 0)
            return missing[i].why;
    return NULL;
}

void sk_lacks_write(struct sk_json *json, const char *op, const char *why)
{
    sk_json_begin(json, NULL, '{');
    sk_json_text(json, "rec", "skip");
    sk_json_text(json, "op", op);
    sk_json_text(json, "why", why);
    sk_json_end(json, '}');
}
