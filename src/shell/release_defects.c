/* The table of defects that depend on releases and sizes. docs/open-mpi.md has it in words. */
#include "release_defects.h"

#include <limits.h>
#include <stdio.h>

/* The modified Bruck of 4.1's alltoall packs what it has received by the send type (open-mpi/ompi pull request 10488,
 * in 5.0). Which release of 4.1 has the correction, if any, is not known here, so none is trusted. These are the sizes
 * for which tuned's fixed decision takes that algorithm. */
#define BRUCK(ranks, most_ranks, bytes, most_bytes)        \
    {                                                      \
        40100, 40199, ranks, most_ranks, bytes, most_bytes \
    }

static const struct shell_defect defects[] = {
    BRUCK(16, 31, 4, 511),    BRUCK(32, 63, 1, 511),      BRUCK(64, 511, 1, 1023),
    BRUCK(512, 2047, 1, 511), BRUCK(2048, 4095, 1, 1023), BRUCK(4096, INT_MAX, 1, 2047),
};

const struct shell_defect *shell_alltoall_defect(int release, int ranks)
{
    for (size_t i = 0; i < sizeof(defects) / sizeof(defects[0]); ++i) {
        const struct shell_defect *defect = &defects[i];
        if (defect->first_release <= release && release <= defect->last_release && defect->ranks <= ranks &&
            ranks <= defect->most_ranks) {
            return defect;
        }
    }
    return NULL;
}

int shell_open_mpi_release(const char *version)
{
    int major = 0, minor = 0, release = 0;

    return 3 == sscanf(version, "Open MPI v%d.%d.%d", &major, &minor, &release) ? (major * 100 + minor) * 100 + release
                                                                                : 0;
}
