/* Whether the shim served a call, for the test programs of every language. */
#ifndef COLLTOPO_TESTS_SERVED_H
#define COLLTOPO_TESTS_SERVED_H

/* Calls of a collective (as colltopo.h numbers them; -1: all) served in this process so far; -1 without a shim. */
int served(int collective);

/* 1 when a call of the collective must be served, 0 when it may not be, -1 when either will do. SHIM_TEST_SERVES says:
 * unset (all), 0 (none), all-but-alltoall, or any. */
int must_serve(int collective);

#endif
