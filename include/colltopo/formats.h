// Schedules in the formats of others (docs/formats.md): MSCCL's algorithm XML, which is read and written, and a form
// for oneCCL, which is written.
//
// What these files do not have (steps, routes, the topology) is lost in writing; what a schedule does not have (thread
// blocks, stated dependencies) is lost in reading.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "colltopo/schedule.h"

namespace colltopo {

struct MscclOptions {
  std::string protocol = "Simple";    // or LL, LL128
  std::optional<bool> in_place = {};  // for calls in place; unset: where verify() proves it
  bool out_of_place = true;           // for calls that are not
  std::int64_t min_bytes = 0;         // of the calls it is for
  std::int64_t max_bytes = std::int64_t{1} << 40;
  bool rccl = false;  // "reducescatter", as the executors in RCCL and for NCCL spell it, for "reduce_scatter"
};

/// The most of any GPU or thread block: what a runtime may have limits for.
struct MscclSize {
  std::size_t thread_blocks = 0;
  std::size_t steps = 0;
  std::size_t channels = 0;
};

/// One thread block per peer, direction and lane, the lane being the channel. Messages of several runs, or of more
/// chunks than a step may count, become several. Throws Error when the schedule is not valid. `size` may be null.
std::string msccl_xml(const Schedule& schedule, const MscclOptions& options = {}, MscclSize* size = nullptr);

bool is_msccl_xml(std::string_view contents);

/// The algorithm as a schedule. Only what cannot be understood throws Error, with file and line; whether the algorithm
/// is its collective is for verify() to say.
Schedule read_msccl_xml(std::string_view contents, const std::string& name_for_errors);

/// In the words of Basu et al., section 4: send, recv, copy, reduce and sync, rank by rank, with scratch.
std::string oneccl_xml(const Schedule& schedule);

/// A schedule file of our own or in a format of others. `format`: text, msccl-xml, or empty for what the contents say.
Schedule read_any_schedule(const std::string& contents, const std::string& name_for_errors,
                           std::string_view format = "");

}  // namespace colltopo
