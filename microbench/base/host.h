/* What the machine says of itself; no process of MPI is needed. */
#ifndef SK_BASE_HOST_H
#define SK_BASE_HOST_H

#include "base/json.h"

/* Adds host, kernel, cpu, cores, started (UTC) to the open object; `host` NULL: the name of this node. */
void sk_host_write(struct sk_json *json, const char *host, int cores);

#endif
