/* Does an operation do what it must? Asked once per experiment, outside all timing. */
#ifndef SK_CATALOGUE_VERIFY_H
#define SK_CATALOGUE_VERIFY_H

#include "base/world.h"
#include "catalogue/ops.h"
#include "time/clock.h"

/* Runs the operation on known contents and looks at every element on every process; a barrier is entered late by one
 * process after the other, and nobody may leave before it. A user's function is judged by its own check, if it has one.
 * Every process must call it; all get the answer. A wrong result is said once on standard error. */
bool sk_verify(const struct sk_op *op, const struct sk_operands *operands, const struct sk_world *world,
               const struct sk_clock *clock);

#endif
