// Of how many processes that an mpirun started this is which; told by the environment, without MPI.
#pragma once

namespace colltopo::cli {

struct Launch {
  int rank = 0;
  int ranks = 1;
  int ranks_here = 1;  // on this machine
  bool mpich = false;  // or a launcher of its kind; otherwise Open MPI
};

Launch launch();

}  // namespace colltopo::cli
