// One order for all steps of an MSCCL algorithm: what its thread blocks do at the same time, one after the other.
#pragma once

#include <string>
#include <vector>

#include "colltopo/program.h"
#include "formats/msccl.h"

namespace colltopo::msccl {

/// A step's turn. Turns of one rank are in the order of its program; the messages of a rank to another are received in
/// the order in which they were sent, over all channels.
struct Turn {
  enum class What : std::uint8_t {
    all,             // the step, with the message it receives if it does
    message,         // its message alone, which must get out of the way of another
    all_but_message  // the step, whose message has come
  };
  Rank rank = 0;
  std::int32_t block = 0, step = 0;
  What what = What::all;
  std::size_t received = 0;  // number of the message received, in the order in which all were sent
  std::size_t sent = 0;      // number of the message sent
  Step arrives = 0;          // step of the schedule of the message received
  Step leaves = 0;           // of the one sent; of a step that sends nothing, the step it happens in
};

/// Throws Error when a message has no partner of the same size on its connection, and when steps wait for each other.
std::vector<Turn> turns(const Algorithm& algorithm, const std::string& file);

}  // namespace colltopo::msccl
