// Is the distributed transform right? The spectrum is gathered and compared with a serial transform of the whole field,
// and the field must come back.
#pragma once

#include "distributed.h"

namespace colltopo::fft3d {

/// Fills this rank's part of a field that is a function of the global position alone.
void fill_field(Distributed& transform);

struct Errors {
  double spectrum = 0;    // largest difference from the serial transform by its largest value
  double round_trip = 0;  // largest difference of forward and backward from the field
};

/// Runs forward and backward once. Collective; every rank returns the same.
Errors verify(Distributed& transform, MPI_Comm comm);

/// What rounding may do to a right transform of this many points.
double tolerance(const Grid& grid);

}  // namespace colltopo::fft3d
