#include "comm/file_proofs.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <optional>
#include <sstream>

#include "base/digest.h"
#include "base/read_file.h"
#include "colltopo/error.h"
#include "colltopo/verify.h"
#include "colltopo/verify_symmetric.h"
#include "comm/file_stamps.h"
#include "comm/proof_cache.h"

namespace colltopo {

namespace {

// What proving would take, in chunks and ops that are looked at, beyond which ranks compare in pairs instead: about a
// second (docs/schedule.md has what was measured).
constexpr double k_most_work = 20e6;
constexpr double k_bytes_per_work = 8;      // of the file, read in the time of one of these
constexpr double k_work_of_reductions = 3;  // as long for each, as the values that they make are kept
constexpr std::size_t k_most_known = 1024;  // files of a process

/// All ranks do about what this one does.
double work_of(const Program& own, std::size_t bytes) {
  const Shape& shape = own.shape();
  double of_rank = static_cast<double>(own.size()) + own.scratch();
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Op op = own.op(i);
    of_rank += chunks_in(op.source) + chunks_in(op.target);
  }
  of_rank += shape.input_chunks(own.rank()) + shape.output_chunks(own.rank());
  const double work = of_rank * shape.ranks + static_cast<double>(bytes) / k_bytes_per_work;
  return reduces(shape.collective) ? k_work_of_reductions * work : work;
}

Proof proof_of_table(const ScheduleHeader& header) {
  const Algorithm& algorithm = *algorithm_named(header.algorithm);
  const Properties properties = algorithm.properties(header.shape, header.options);
  return {properties.in_place, properties.keeps_rank_order, properties.same_on_all_ranks, true, false};
}

/// Throws Error with what is wrong.
Proof proved(const std::string& path, const ScheduleHeader& header, const std::string& bytes) {
  std::istringstream in(bytes);
  if (read_header(in, path).checksum != header.checksum)
    throw Error(fmt::format("{}: is another file than a moment ago", path));
  in.clear();
  in.seekg(0);
  std::vector<Violation> violations;
  Proof proof;
  if (header.orbits > 0) {
    violations = verify_symmetric(read_symmetric(in, path));
    proof = proof_of_symmetric();
  } else {
    const Verdict verdict = verify(read_schedule(in, path));
    violations = verdict.violations;
    proof = proof_of(verdict);
  }
  if (!violations.empty())
    throw Error(
        fmt::format("{}: {}; it is not what its header says and does not run", path, to_string(violations.front())));
  return proof;
}

FileProof found_out(const std::string& path, const ScheduleHeader& header, const Program& own) {
  if (!header.algorithm.empty()) return {Ground::made, proof_of_table(header), ""};
  const std::optional<FileStamp> stamp = stamp_if_there(path, k_schedule_file);
  const std::size_t size = stamp ? stamp->bytes : 0;
  // Of a symmetric file orbits are proved, not ranks.
  const double work = header.orbits > 0 ? static_cast<double>(size) / k_bytes_per_work : work_of(own, size);
  if (work > k_most_work) return {Ground::pairs, {}, ""};
  const std::string bytes = read_file(path, {k_schedule_file.expected, size});
  const std::string digest = digest_of(bytes);
  if (const auto known = remembered_proof(digest)) return {Ground::proved, *known, ""};
  const Proof proof = proved(path, header, bytes);
  remember_proof(digest, proof);
  return {Ground::proved, proof, ""};
}

/// What this process knows, by path and what stands there.
class Known {
 public:
  struct Entry {
    FileProof proof;
    bool said = false;
  };
  static Known& of_process() {
    static auto* const known = new Known;
    return *known;
  }
  std::optional<Entry> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return {};
    const Entry entry = found->second;
    found->second.said = true;
    return entry;
  }
  void keep(const std::string& key, const FileProof& proof) {
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= k_most_known) entries_.clear();
    entries_[key] = {proof, true};
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

}  // namespace

long long number_of(const FileProof& known) {
  const Proof& proof = known.proof;
  unsigned bits = static_cast<unsigned>(known.ground);
  for (const bool bit :
       {proof.in_place, proof.keeps_rank_order, proof.same_on_all_ranks, proof.stepped, proof.independent})
    bits = bits << 1 | (bit ? 1U : 0U);
  return bits;
}

FileProof file_proof_from(long long number) {
  const auto bit = [&](unsigned place) { return (number >> place & 1) != 0; };
  return {static_cast<Ground>(number >> 5 & 3), {bit(4), bit(3), bit(2), bit(1), bit(0)}, ""};
}

FileProof prove_file(const std::string& path, const ScheduleHeader& header, const Program& own, bool* said) {
  const std::string key = fmt::format("{}{}", stamp_of_file(path), header.checksum);
  if (auto known = Known::of_process().find(key)) {
    *said = known->said;
    return std::move(known->proof);
  }
  *said = false;
  FileProof proof;
  try {
    proof = found_out(path, header, own);
  } catch (const Error& error) {
    proof = {Ground::claim, {}, error.what()};
  }
  Known::of_process().keep(key, proof);
  return proof;
}

std::vector<long long> messages_of(const Program& program, Action action) {
  const Shape& shape = program.shape();
  const Chunk period = shape.classes();
  std::vector<unsigned long long> sums(static_cast<std::size_t>(shape.ranks), 0);
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    if (op.action != action) continue;
    unsigned long long& sum = sums[static_cast<std::size_t>(op.peer)];
    const auto add = [&](unsigned long long number) {
      sum = (sum ^ number) * 0x9E3779B97F4A7C15ULL;
      sum ^= sum >> 29;
    };
    add(1);
    add(static_cast<unsigned>(op.step));
    add(static_cast<unsigned>(op.lane));
    // Chunks whose classes follow each other count as one stretch, however they are cut into runs.
    Chunk first = -1, next = -1;
    long long count = 0;
    for (const Run& run : action == Action::send ? op.source : op.target) {
      const Chunk begin = size_class(shape, program.rank(), run.buffer, run.first) % period;
      if (begin != next) {
        if (count > 0) add(static_cast<unsigned>(first)), add(static_cast<unsigned long long>(count));
        first = begin;
        count = 0;
      }
      count += run.count;
      next = static_cast<Chunk>((static_cast<long long>(begin) + run.count) % period);
    }
    add(static_cast<unsigned>(first));
    add(static_cast<unsigned long long>(count));
  }
  std::vector<long long> numbers;
  for (const unsigned long long sum : sums) numbers.push_back(static_cast<long long>(sum >> 2));
  return numbers;
}

}  // namespace colltopo
