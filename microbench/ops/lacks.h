/* What the MPI library of this program cannot do, so that it is left out with a reason instead of ending the launch. */
#ifndef SK_OPS_LACKS_H
#define SK_OPS_LACKS_H

#include "base/json.h"

/* Returns why the operation with this name in the run file cannot be measured here; NULL if it can. */
const char *sk_lacks(const char *op);

/* Appends the record that says so: {"rec":"skip","op":...,"why":...}. */
void sk_lacks_write(struct sk_json *json, const char *op, const char *why);

#endif
