// The order in which ranks that share processors take turns.
#pragma once

#include <mpi.h>

#include <random>

namespace colltopo {

/// Who waits gives its processor to the next one, so that ranks of one processor take turns in an order that lasts
/// until somebody sleeps: often the whole job. A message to the next in turn arrives at once, one to the one before
/// after a round of all, so that each job has a fastest algorithm of its own (decision 32).
class RunOrder {
 public:
  /// Collective: some meetings show whether ranks share processors.
  explicit RunOrder(MPI_Comm comm);

  /// Where they do, sleeps for a random while, up to six meetings of all: after the next one the order is another.
  void shuffle();
  bool is_shared() const { return longest_ > 0; }

 private:
  double longest_;  // s, of a sleep; 0: none
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace colltopo
