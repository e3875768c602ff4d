// The command line of colltopo-bench.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "caller.h"
#include "exchange.h"
#include "timing.h"

namespace colltopo::bench {

struct Options {
  std::vector<Kind> collectives;
  std::vector<std::size_t> sizes;       // bytes of a shard or of the vector
  std::vector<std::string> algorithms;  // contenders
  bool versus = false;                  // in alternating blocks, else one after the other
  std::optional<Element> element;       // nothing: the widest of double, int32, int8 that divides the size
  Reduction reduction = Reduction::sum;
  int root = 0;
  Spread spread = Spread::equal;
  std::string demand;  // file to write what ranks have for each other to; empty: none
  std::string record;  // file to write a series of calls to; empty: none
  long record_calls = 2600;
  std::string pace;  // of coll/topo's contenders; empty: as set otherwise
  Effort effort;
  long settle = 0;                   // calls before, of those that choose
  std::optional<Computing> overlap;  // nothing: not asked for
  bool check = false;
  bool json = false;
  int overhead_communicators = 0;  // 0: not asked for
};

/// The element type for a size; throws std::invalid_argument when the size is no multiple of the type asked for.
Element element_for(const Options& options, std::size_t bytes);

/// Either options, or the status to leave with (0 after --help, 2 after an error, said on standard error by rank 0).
struct Parsed {
  std::optional<Options> options;
  int status = 0;
};
Parsed parse(int argc, char** argv, int rank, int ranks);

}  // namespace colltopo::bench
