// Memory of this process that is its own: pages that it has written, as Linux counts them.
#pragma once

#include <cstddef>

namespace colltopo::bench {

/// Bytes of private pages now, counted page by page.
std::size_t resident_bytes();

/// The most bytes that were resident at once, files and stacks included, since the last begin_peak(); that returns
/// false where Linux does not forget an earlier peak.
bool begin_peak();
std::size_t peak_bytes();

}  // namespace colltopo::bench
