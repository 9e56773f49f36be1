/* Whose turn it is: of all processes in virtual time one runs, that which can do something earliest.
 *
 * A process may act at the time t when no other one can reach it until t any more: everybody's next step and the
 * lookahead,
 * the shortest way of a message, lie behind t. Ties go to the lower rank, so that a launch repeats itself. */
#ifndef SK_VIRTUAL_TURN_H
#define SK_VIRTUAL_TURN_H

#include "virtual/self.h"

/* Virtual time begins for this process, when all have left MPI_Init. Returns whether they have. */
void sk_turn_join(void);
bool sk_turn_all_joined(void);
void sk_turn_begin(void); /* after all joined: waits for the turn */

/* It ends: MPI_Finalize is called; sk_turn_leave when all have. */
void sk_turn_finish(void);
bool sk_turn_all_finish(void);
void sk_turn_leave(void);

/* Returns when nothing that arrives by now on this process's clock is still unknown. */
void sk_turn_settle(void);

/* Gives up the turn until `next`, or until something else wakes this process if it `hears`; returns when it has the
 * turn
 * again. False: nobody has anything to do, and the caller looks at the world outside. */
bool sk_turn_wait(sk_ps next, bool hears);

/* Sets the clock to `t` if nobody can reach this process until then. */
bool sk_turn_advance(sk_ps t);

/* Sleeps: the clock goes to `until`. */
void sk_turn_sleep(sk_ps until);

/* Around a call of the system that may wait for something outside: others go on meanwhile. */
void sk_turn_go_outside(void);
void sk_turn_come_back(void);

/* Between two calls of MPI the thread computes: sk_turn_count_computing adds the time since the last call of either
 * to its clock,
 * sk_turn_forget_computing leaves it out. Neither does anything within a call of MPI. */
void sk_turn_count_computing(void);
void sk_turn_forget_computing(void);
extern int sk_turn_depth; /* of calls of MPI */

#endif
