#include "comm/schedule_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <tuple>

#include "colltopo/derive.h"
#include "colltopo/error.h"
#include "colltopo/text.h"
#include "comm/file_proofs.h"

namespace colltopo {

namespace {

/// What this process has read: sections by path, seal of the file, rank and the order of ranks.
using SectionKey = std::tuple<std::string, std::uint32_t, Rank, long long>;
class Sections {
 public:
  static Sections& of_process() {
    static auto* const sections = new Sections;
    return *sections;
  }
  std::shared_ptr<const Program> find(const SectionKey& key) {
    const std::lock_guard lock(mutex_);
    const auto found = programs_.find(key);
    return found == programs_.end() ? nullptr : found->second.lock();
  }
  void keep(const SectionKey& key, const std::shared_ptr<const Program>& program) {
    const std::lock_guard lock(mutex_);
    std::erase_if(programs_, [](const auto& entry) { return entry.second.expired(); });
    programs_[key] = program;
  }

 private:
  std::mutex mutex_;
  std::map<SectionKey, std::weak_ptr<const Program>> programs_;
};

/// The program of the wanted rank, whatever place of the schedule it has.
std::shared_ptr<const Program> section_of(ScheduleFile& file, const std::string& path,
                                          const ScheduleFiles::Wanted& wanted) {
  const SectionKey key{path, file.header().checksum, wanted.rank, checksum_of(wanted.rank_at)};
  if (auto known = Sections::of_process().find(key)) return known;
  Program program;
  if (wanted.rank_at.empty()) {
    program = file.program(wanted.rank);
  } else {
    const auto place = std::ranges::find(wanted.rank_at, wanted.rank) - wanted.rank_at.begin();
    program = renamed(file.program(static_cast<Rank>(place)), wanted.rank_at);
  }
  auto section = std::make_shared<const Program>(std::move(program));
  Sections::of_process().keep(key, section);
  return section;
}

std::string misfit(const std::string& path, const ScheduleHeader& header, const ScheduleFiles::Wanted& wanted) {
  if (header.shape.collective != wanted.collective)
    return fmt::format("{} is a schedule of {}", path, name(header.shape.collective));
  if (header.shape.ranks != wanted.ranks)
    return fmt::format("{} is for {} ranks, this communicator has {}", path, header.shape.ranks, wanted.ranks);
  return "";
}

/// Each rank knows its own program's pattern; its unevenness is rounded up to thousandths, as numbers are what ranks
/// agree on.
struct AgreedPattern {
  AgreedPattern(Findings& findings, const StepPattern& own)
      : unevenness(findings.largest(static_cast<long long>(std::ceil(1000 * own.unevenness)))),
        in_order(findings.smallest(own.in_order ? 1 : 0)),
        messages(findings.largest(own.messages)),
        chunks(findings.largest(own.chunks)),
        sizes(findings.smallest(static_cast<long long>(own.sizes))) {}
  StepPattern of_all(Step steps, const Agreement::Result& agreed) const {
    return {steps,
            static_cast<double>(agreed.largest(unevenness)) / 1000,
            agreed.value(in_order) == 1,
            agreed.largest(messages),
            agreed.largest(chunks),
            static_cast<Sizes>(agreed.value(sizes))};
  }
  std::size_t unevenness, in_order, messages, chunks, sizes;
};

void take(const FileProof& known, const std::optional<Proof>& claimed, LoadedProgram& loaded) {
  const bool is_claim = known.ground == Ground::claim || known.ground == Ground::pairs;
  loaded.made = known.ground == Ground::made;
  loaded.proved = !is_claim || claimed.has_value();
  loaded.proof = is_claim ? claimed.value_or(Proof{}) : known.proof;
}

/// Collective. Each rank compares what others send to it with what it receives.
bool pairs_agree(const Program& program, Rank rank, const std::string& path, const Agreement& agreement,
                 std::string* fault) {
  const std::vector<long long> expected = messages_of(program, Action::recv);
  std::vector<long long> sent = messages_of(program, Action::send);
  agreement.exchange(sent);
  for (std::size_t peer = 0; peer < sent.size() && fault->empty(); ++peer)
    if (sent[peer] != expected[peer])
      *fault = fmt::format(
          "{}: what rank {} receives from {} is not what that sends, by number, step, lane or length "
          "of messages; it does not run",
          path, rank, peer);
  return agreement.all_good(fault);
}

}  // namespace

std::shared_ptr<const LoadedProgram> ScheduleFiles::load(const std::string& path, const Wanted& wanted,
                                                         const Agreement& agreement, std::string* fault) {
  // The same file may be asked for with rank r in place r, and with ranks by host.
  const bool by_host = !std::ranges::is_sorted(wanted.rank_at);
  const std::string key = by_host ? path + " by host" : path;
  if (const auto found = programs_.find(key); found != programs_.end()) {
    const Collective collective = found->second->program->shape().collective;
    if (collective == wanted.collective) return found->second;
    if (wanted.rank == 0) *fault = fmt::format("{} is a schedule of {}", path, name(collective));
    return nullptr;
  }
  auto loaded = std::make_shared<LoadedProgram>();
  Findings findings;
  long long checksum = 0;
  Step steps = 0;
  FileProof known;
  std::optional<Proof> claimed;
  bool said = false;
  try {
    ScheduleFile file(path);
    const ScheduleHeader& header = file.header();
    checksum = header.checksum;
    steps = header.steps;
    claimed = header.proof;
    if (std::string why = misfit(path, header, wanted); !why.empty()) {
      findings.fault(std::move(why));
    } else {
      loaded->program = section_of(file, path, wanted);
      loaded->pattern = step_pattern(*loaded->program, steps);
      if (wanted.prove && wanted.rank == 0) known = prove_file(path, header, *loaded->program, &said);
      if (!known.fault.empty()) findings.fault(known.fault);
    }
  } catch (const std::exception& error) {
    findings.fault(error.what());
  }
  findings.same("different files under ", checksum, path);
  const AgreedPattern pattern(findings, loaded->pattern);
  const std::size_t knows = findings.largest(number_of(known));  // 0 on all ranks but one
  Agreement::Result agreed = agreement.agree(findings);
  if (!agreed.good) {
    if (!said || known.fault.empty()) *fault = std::move(agreed.fault);
    return nullptr;
  }
  known = file_proof_from(agreed.largest(knows));
  take(known, claimed, *loaded);
  if (known.ground == Ground::pairs && !pairs_agree(*loaded->program, wanted.rank, path, agreement, fault))
    return nullptr;
  loaded->pattern = pattern.of_all(steps, agreed);
  loaded->path = path;
  loaded->by_host = by_host;
  if (by_host) loaded->proof.keeps_rank_order = false;
  return programs_[key] = std::move(loaded);
}

}  // namespace colltopo
