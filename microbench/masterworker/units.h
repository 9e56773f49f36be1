/* What is in a unit of work and in its result, such that both tell which unit they are and whether all of it came. */
#ifndef SK_MASTERWORKER_UNITS_H
#define SK_MASTERWORKER_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SK_UNIT_LEAST = 8 }; /* bytes of a unit and of a result, at least: a number */

/* Writes the number at both ends of a message, of less than 16 bytes at the first only. */
void sk_unit_number(char *message, size_t bytes, int64_t number);

/* Returns the number of a message, or -1 if its two ends differ. */
int64_t sk_unit_read(const char *message, size_t bytes);

/* Fills all other bytes with what belongs to this number alone. */
void sk_unit_fill(char *message, size_t bytes, int64_t number);

/* Returns whether every byte is as sk_unit_number and sk_unit_fill made it. */
bool sk_unit_is_whole(const char *message, size_t bytes, int64_t number);

/* Returns the answer to a unit, which no other unit has; it is not negative. */
int64_t sk_unit_answer(int64_t number, uint64_t seed);

/* Reads whole numbers with commas between them. Returns how many there are and writes the first `most` of them; -1 with
 * the reason in `why` if one is no number from `least` to `largest`. */
int sk_unit_counts(const char *option, const char *text, int64_t least, int64_t largest, int64_t *counts, int most,
                   char *why, size_t room);

#endif
