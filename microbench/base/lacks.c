#include "base/lacks.h"

#include "base/world.h"

#include <string.h>

const char *sk_lacks(const char *op)
{
    static const char *const missing[] = {
#define SK_LACK(name) name,
#include "base/lacks.def"
#undef SK_LACK
    };
    for (size_t i = 0; SK_IS_SIMULATED && i < sizeof missing / sizeof *missing; i++)
        if (strncmp(op, missing[i], strlen(missing[i])) == 0)
            return "the simulator does not have this function";
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
