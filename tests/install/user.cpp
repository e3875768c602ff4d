// A program against the installed CMake package: makes a schedule and proves it.
#include <colltopo/algorithms.h>
#include <colltopo/verify.h>

#include <iostream>

int main() {
  colltopo::AlgorithmOptions options;
  options.values.set("radix", 3);
  const auto schedule =
      colltopo::generate(*colltopo::algorithm_named("tra"), {colltopo::Collective::alltoall, 8, 1, 0}, options);
  std::cout << schedule.name << " on " << schedule.shape.ranks
            << " ranks: " << (colltopo::verify(schedule).valid() ? "right" : "wrong") << '\n';
}
