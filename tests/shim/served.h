/* Whether the shim served a call, for the test programs of every language. */
#ifndef COLLTOPO_TESTS_SERVED_H
#define COLLTOPO_TESTS_SERVED_H

/* Calls of a collective (as colltopo.h numbers them; -1: all) served in this process so far; -1 without a shim. */
int served(int collective);

/* 1 when a call of the collective must be served, 0 when it may not be: SHIM_TEST_SERVES is unset, 0 (none may) or
 * all-but-alltoall. */
int must_serve(int collective);

#endif
