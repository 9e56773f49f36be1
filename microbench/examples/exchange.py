"""An exchange along a ring, measured by `scalkit measure --function microbench/examples/exchange.py:exchange -n 2,4,8`."""


def exchange_setup(call):
    """Fill the first message with what tells this rank from others; once, not timed."""
    call.send[0] = call.rank % 100 + 1
    call.own = (call.rank + 1) % call.size, (call.rank - 1) % call.size


def exchange(call):
    """Send to the rank after this one and receive from the one before: what is timed."""
    after, before = call.own
    call.comm.Sendrecv(call.send[0], after, 0, call.receive[0], before, 0)


def exchange_check(call):
    """Return how many elements are wrong; asked after a call, not timed."""
    before = (call.rank - 1) % call.size
    return (call.receive[0] != before % 100 + 1).sum()
