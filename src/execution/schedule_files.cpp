#include "execution/schedule_files.h"

#include <fmt/format.h>

#include "colltopo/text.h"
#include "colltopo/verify.h"

namespace colltopo {

namespace {

enum Bit : unsigned {
  k_stepped = 16,
  k_valid = 8,
  k_in_place = 4,
  k_keeps_rank_order = 2,
  k_same_on_all_ranks = 1,
  k_every = 31
};

unsigned proof_of(const std::string& path, std::string* fault) {
  const Verdict verdict = verify(read_schedule(path));
  if (!verdict.valid()) {
    *fault = fmt::format("{} is wrong: {}", path, to_string(verdict.violations.front()));
    return 0;
  }
  return k_valid | (verdict.in_place ? k_in_place : 0u) | (verdict.keeps_rank_order ? k_keeps_rank_order : 0u) |
         (verdict.same_on_all_ranks ? k_same_on_all_ranks : 0u) | (verdict.stepped ? k_stepped : 0u);
}

}  // namespace

long long Agreement::least(long long value) const {
  if (callbacks_.agree != nullptr && callbacks_.agree(callbacks_.context, &value) != 0) return -1;
  return value;
}

bool Agreement::all_good(std::string* fault, long long checksum) const {
  const long long failing = least(fault->empty() ? ranks_ : rank_);
  const long long smallest = least(checksum), largest = -least(-checksum);
  if (failing == ranks_ && smallest == largest) return true;
  if (failing == ranks_ && rank_ == 0) *fault = "ranks see different files";
  if (failing != ranks_ && failing != rank_) fault->clear();
  return false;
}

const LoadedProgram* ScheduleFiles::load(const std::string& path, const Wanted& wanted, const Agreement& agreement,
                                         std::string* fault) {
  const bool needs_proof = reduces(wanted.collective) || wanted.stepped;
  if (const auto found = programs_.find(path); found != programs_.end()) {
    if (found->second.program.shape().collective == wanted.collective) return &found->second;
    if (wanted.rank == 0)
      *fault = fmt::format("{} is a schedule of {}", path, name(found->second.program.shape().collective));
    return nullptr;
  }
  LoadedProgram loaded;
  long long checksum = 0;
  unsigned proof = k_every;
  try {
    const ScheduleHeader header = read_header(path);
    checksum = header.checksum;
    if (header.shape.collective != wanted.collective) {
      *fault = fmt::format("{} is a schedule of {}", path, name(header.shape.collective));
    } else if (header.shape.ranks != wanted.ranks) {
      *fault = fmt::format("{} is for {} ranks, this communicator has {}", path, header.shape.ranks, wanted.ranks);
    } else {
      loaded.program = read_program(path, wanted.rank);
      if (wanted.rank == 0 && needs_proof) proof = proof_of(path, fault);
    }
  } catch (const std::exception& error) {
    *fault = error.what();
  }
  if (!agreement.all_good(fault, checksum)) return nullptr;
  if (needs_proof) {
    const auto agreed = static_cast<unsigned>(agreement.least(proof));
    loaded.properties = {(agreed & k_in_place) != 0, (agreed & k_keeps_rank_order) != 0,
                         (agreed & k_same_on_all_ranks) != 0};
    loaded.stepped = (agreed & k_stepped) != 0;
  }
  return &programs_.emplace(path, std::move(loaded)).first->second;
}

}  // namespace colltopo
