#define _GNU_SOURCE
#include "virtual/listeners.h"

#include "virtual/self.h"
#include "virtual/shared.h"

#include <netinet/in.h>
#include <string.h>

enum { PORTS = 65536, FIRST_KEY_BIT = 42 };

union address { struct sockaddr any; struct sockaddr_in v4; struct sockaddr_in6 v6; struct sockaddr_storage room; };

static const struct in6_addr any_four = {{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0}}};

/* An address of IPv4 is the one of IPv6 that stands for it. */
static bool read_address(const struct sockaddr *address, socklen_t length, struct in6_addr *host, int *port)
{
    union address read;
    memset(&read, 0, sizeof read);
    memcpy(&read, address, length < sizeof read ? length : sizeof read);
    if (read.any.sa_family == AF_INET && length >= sizeof read.v4) {
        *host = any_four;
        memcpy(host->s6_addr + 12, &read.v4.sin_addr, 4);
        *port = ntohs(read.v4.sin_port);
    } else if (read.any.sa_family == AF_INET6 && length >= sizeof read.v6) {
        *host = read.v6.sin6_addr;
        *port = ntohs(read.v6.sin6_port);
    } else {
        return false;
    }
    return *port > 0;
}

static bool is_same(const struct in6_addr *one, const struct in6_addr *other)
{
    return memcmp(one, other, sizeof *one) == 0;
}

static int32_t place_of(const struct in6_addr *host, int port)
{
    int n = sk_shared->n_hosts, i = 0;
    while (i < n && !is_same(&sk_shared->hosts[i], host))
        i++;
    if (i == SK_HOSTS) /* 16 */
        sk_over("the processes of this launch use more than 16 addresses of this host");
    if (i == n) {
        sk_shared->hosts[i] = *host;
        sk_shared->n_hosts = n + 1;
    }
    return i * PORTS + port;
}

int32_t sk_listener_place(const struct sockaddr *address, socklen_t length)
{
    struct in6_addr host;
    int port;
    return address && read_address(address, length, &host, &port) ? place_of(&host, port) : -1;
}

int32_t sk_listener_own_place(int fd)
{
    union address address;
    socklen_t length = sizeof address;
    return getsockname(fd, &address.any, &length) == 0 ? sk_listener_place(&address.any, length) : -1;
}

int32_t sk_listener_peer_place(int fd)
{
    union address address;
    socklen_t length = sizeof address;
    return getpeername(fd, &address.any, &length) == 0 ? sk_listener_place(&address.any, length) : -1;
}

void sk_listener_open(int32_t place)
{
    sk_shared->listeners[place] = sk_self.rank + 1;
}

void sk_listener_close(int32_t place)
{
    sk_shared->listeners[place] = 0;
}

/* Who listens on all addresses of IPv6 may listen on those of IPv4, too. */
int sk_listener_at(int32_t place)
{
    const struct in6_addr *host = &sk_shared->hosts[place / PORTS];
    int port = place % PORTS, owner = sk_shared->listeners[place];
    if (owner == 0 && IN6_IS_ADDR_V4MAPPED(host))
        owner = sk_shared->listeners[place_of(&any_four, port)];
    if (owner == 0)
        owner = sk_shared->listeners[place_of(&in6addr_any, port)];
    return owner - 1;
}

/* Who connects to all addresses connects to this host. */
static int32_t reached(int32_t place)
{
    const struct in6_addr *host = &sk_shared->hosts[place / PORTS];
    struct in6_addr loopback = any_four;
    if (is_same(host, &in6addr_any))
        return place_of(&in6addr_loopback, place % PORTS);
    memcpy(loopback.s6_addr + 12, &(uint32_t){htonl(INADDR_LOOPBACK)}, 4);
    return is_same(host, &any_four) ? place_of(&loopback, place % PORTS) : place;
}

uint64_t sk_listener_key(int32_t connecting, int32_t listening, bool forth)
{
    uint64_t from = (uint64_t)connecting, to = (uint64_t)reached(listening);
    return (UINT64_C(1) << FIRST_KEY_BIT) | from << 21 | to << 1 | (forth ? 1 : 0);
}
