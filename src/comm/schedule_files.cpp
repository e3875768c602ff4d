#include "comm/schedule_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "colltopo/derive.h"
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

/// The program of the wanted rank, whatever place of the schedule it has.
Program program_at(const std::string& path, const ScheduleFiles::Wanted& wanted) {
  if (wanted.rank_at.empty()) return read_program(path, wanted.rank);
  const auto place = std::ranges::find(wanted.rank_at, wanted.rank) - wanted.rank_at.begin();
  return renamed(read_program(path, static_cast<Rank>(place)), wanted.rank_at);
}

unsigned proof_of(const std::string& path, std::string* fault) {
  const Verdict verdict = verify(read_schedule(path));
  if (!verdict.valid()) {
    *fault = fmt::format("{} is wrong: {}", path, to_string(verdict.violations.front()));
    return 0;
  }
  return k_valid | (verdict.in_place ? k_in_place : 0u) | (verdict.keeps_rank_order ? k_keeps_rank_order : 0u) |
         (verdict.same_on_all_ranks ? k_same_on_all_ranks : 0u) | (verdict.stepped ? k_stepped : 0u);
}

// Each rank knows its own program's; its unevenness is rounded up to thousandths, as numbers are what ranks agree on.
StepPattern pattern_of_all(const StepPattern& own, const Agreement& agreement) {
  const auto thousandths = static_cast<long long>(std::ceil(1000 * own.unevenness));
  return {own.steps, static_cast<double>(agreement.largest(thousandths)) / 1000,
          agreement.least(own.in_order ? 1 : 0) == 1, agreement.largest(own.messages), agreement.largest(own.chunks)};
}

}  // namespace

long long Agreement::least(long long value) const {
  if (callbacks_.agree != nullptr && callbacks_.agree(callbacks_.context, &value) != 0) return -1;
  return value;
}

bool Agreement::all_good(std::string* fault, long long checksum) const {
  const long long failing = least(fault->empty() ? ranks_ : rank_);
  if (least(checksum) == largest(checksum) && failing == ranks_) return true;
  if (failing == ranks_ && rank_ == 0) *fault = "ranks see different files";
  if (failing != ranks_ && failing != rank_) fault->clear();
  return false;
}

// Seven characters at a time as a number: what ranks can agree on is a smallest value, and rank 0's is the smallest.
std::string Agreement::text_of_rank_0(const std::string& text) const {
  constexpr std::size_t k_at_once = 7;
  constexpr long long k_nothing = std::numeric_limits<long long>::max();
  const auto of_rank_0 = [&](long long value) { return least(rank_ == 0 ? value : k_nothing); };
  const long long length = of_rank_0(static_cast<long long>(text.size()));
  std::string result;
  for (std::size_t first = 0; length > 0 && first < static_cast<std::size_t>(length); first += k_at_once) {
    long long packed = 0;
    for (std::size_t i = 0; i < k_at_once; ++i)
      packed = packed << 8 | (first + i < text.size() ? static_cast<unsigned char>(text[first + i]) : 0);
    packed = of_rank_0(packed);
    for (std::size_t i = k_at_once; i-- > 0;) result += static_cast<char>(packed >> (8 * i) & 0xff);
  }
  result.resize(length > 0 ? static_cast<std::size_t>(length) : 0);
  return result;
}

const LoadedProgram* ScheduleFiles::load(const std::string& path, const Wanted& wanted, const Agreement& agreement,
                                         std::string* fault) {
  const bool needs_proof = reduces(wanted.collective) || wanted.stepped;
  // The same file may be asked for with rank r in place r, and with ranks by host.
  const bool by_host = !std::ranges::is_sorted(wanted.rank_at);
  const std::string key = by_host ? path + " by host" : path;
  if (const auto found = programs_.find(key); found != programs_.end()) {
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
      loaded.program = program_at(path, wanted);
      loaded.pattern = step_pattern(loaded.program, header.steps);
      if (wanted.rank == 0 && needs_proof) proof = proof_of(path, fault);
    }
  } catch (const std::exception& error) {
    *fault = error.what();
  }
  if (!agreement.all_good(fault, checksum)) return nullptr;
  loaded.pattern = pattern_of_all(loaded.pattern, agreement);
  if (needs_proof) {
    const auto agreed = static_cast<unsigned>(agreement.least(proof));
    loaded.properties = {(agreed & k_in_place) != 0, (agreed & k_keeps_rank_order) != 0,
                         (agreed & k_same_on_all_ranks) != 0};
    loaded.stepped = (agreed & k_stepped) != 0;
    if (by_host) loaded.properties.keeps_rank_order = false;
  }
  return &programs_.emplace(key, std::move(loaded)).first->second;
}

}  // namespace colltopo
