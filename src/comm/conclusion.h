// What `colltopo tune` comes to: how much faster than Open MPI's own the best rows were, and how sure that is.
#pragma once

#include <cstddef>
#include <string>

#include "comm/constants.h"

namespace colltopo {

/// Of the times that a record has of ours and of what calls are left to.
struct Conclusion {
  /// The largest gain of those that are sure, or else of all; none where `bytes` is 0.
  std::string collective;
  std::size_t bytes = 0;
  double gain = 1;  // times as long as ours Open MPI's own takes
  bool is_sure = false;
  std::size_t collectives = 0;  // that were measured
  std::size_t unsure = 0;       // of them: at some size it is not told who is faster, and that matters
  double seconds_more = 0;      // that would tell, if noise is as it was
};

/// Two times differ surely where they are apart by two standard errors; closer than 2% it does not matter.
Conclusion conclusion_of(const ConstantsRecord& record);
/// "allgather of 2048 bytes 3.1 times as fast, sure; 3 of 8 collectives not sure, 40 s more would do".
std::string text_of(const Conclusion& conclusion);

}  // namespace colltopo
