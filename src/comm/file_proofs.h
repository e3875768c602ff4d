// What is known of a schedule file before anything of it runs (docs/schedule.md, "Proved before it runs"): rank 0
// proves it once per process, or finds that an earlier job has.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "colltopo/text.h"

namespace colltopo {

/// Why a file's schedule may run.
enum class Ground : std::uint8_t {
  claim,   // its own proof line: nobody proves (setting `prove`)
  made,    // its programs are made by an algorithm of the table
  proved,  // all of it
  pairs    // proving takes too long: ranks compare what they send and receive, and the rest is its own proof line
};

struct FileProof {
  Ground ground = Ground::claim;
  Proof proof = {};   // of `made` and `proved`
  std::string fault;  // what is wrong with it, with its path; empty: nothing
};

/// A number for a FileProof without a fault, so that rank 0 can tell; never negative.
long long number_of(const FileProof& known);
FileProof file_proof_from(long long number);

/// As header and own program of an opened file say, all of which is read where it is to be proved. `*said`: the process
/// has been told of the fault before.
FileProof prove_file(const std::string& path, const ScheduleHeader& header, const Program& own, bool* said);

/// What a rank sends to, or receives from, each rank: a number that stands for the steps, lanes and size classes of the
/// chunks of all messages, in their order.
std::vector<long long> messages_of(const Program& program, Action action);

}  // namespace colltopo
