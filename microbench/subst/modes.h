/* A message from process 0 to the last one and back, sent in each of MPI's modes and received with and without
 * wildcards; and the exchange of two messages at once. Each takes struct sk_operands and returns MPI's error code.
 *
 * The ready mode needs a receive that is posted, so the last process posts its own first and tells process 0 by a
 * message without data; in all modes alike. The value of a repetition is that message and both others. */
#ifndef SK_SUBST_MODES_H
#define SK_SUBST_MODES_H

int sk_mode_send(const void *operands);
int sk_mode_ssend(const void *operands);
int sk_mode_bsend(const void *operands); /* attaches a buffer at the first call, and another when blocks are larger */
int sk_mode_rsend(const void *operands);
int sk_mode_isend(const void *operands); /* non-blocking ones are waited for at once */
int sk_mode_issend(const void *operands);
int sk_mode_ibsend(const void *operands);
int sk_mode_irsend(const void *operands);
int sk_mode_recv(const void *operands); /* as sk_mode_send; whose receives name the source and the tag */
int sk_mode_recv_any_source(const void *operands);
int sk_mode_recv_any_tag(const void *operands);
int sk_exchange_sendrecv(const void *operands); /* processes 0 and p - 1 send to each other at once */
int sk_exchange_isend_irecv(const void *operands);

#endif
