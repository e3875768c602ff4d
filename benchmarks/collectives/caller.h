// The forms of a call: blocking, non-blocking with its wait, or a start and a wait of a persistent request. And what of
// a call's time a program that computes meanwhile does not notice.
#pragma once

#include <mpi.h>

#include <string>

#include "exchange.h"
#include "timing.h"

namespace colltopo::bench {

enum class Form { blocking, nonblocking, persistent };

/// "ring@persistent" is ring in that form; without a form, blocking. Throws std::invalid_argument.
struct FormedName {
  std::string name;
  Form form = Form::blocking;
};
FormedName formed(const std::string& text);

/// One case's calls on one communicator. Collective.
class Caller {
 public:
  Caller(Exchange& exchange, MPI_Comm comm, Form form);
  ~Caller();
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  /// From beginning to end.
  void call();
  /// Not blocking.
  void start();
  bool test();
  void wait();

 private:
  Exchange& exchange_;
  MPI_Comm comm_;
  Form form_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// `spin`: the processor is busy meanwhile. `sleep`: it is not, which is what a machine with fewer processors than
/// ranks can measure.
enum class Computing { spin, sleep };

struct Overlap {
  double call_us = 0;     // alone
  double compute_us = 0;  // alone: twice as long
  double both_us = 0;
  double hidden() const;  // share of call_us
};
/// Medians of what the slowest rank needs, with one MPI_Test per 100 us of computing.
Overlap overlap(Caller& caller, Computing computing, const Effort& effort, MPI_Comm control);

}  // namespace colltopo::bench
