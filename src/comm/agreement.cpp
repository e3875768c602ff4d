#include "comm/agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>

#include "colltopo/algorithms.h"
#include "colltopo/error.h"
#include "comm/present_transport.h"

namespace colltopo {

namespace {

constexpr std::size_t k_most_bounds = 256;

std::shared_ptr<const Bound> bound_of(std::string_view algorithm, Shape shape, Rank rank, std::size_t count,
                                      std::size_t element_size) {
  const Algorithm& row = *algorithm_named(algorithm);
  shape.chunks = row.chunks(shape, {});
  Binding binding;
  binding.count = count;
  binding.element_size = element_size;
  return std::make_shared<const Bound>(std::make_shared<const Plan>(row.program(shape, rank, {})), binding);
}

// FNV-1a.
class Checksum {
 public:
  void add(unsigned char byte) { sum_ = (sum_ ^ byte) * 0x100000001B3ull; }
  long long value() const { return static_cast<long long>(sum_ >> 2); }

 private:
  unsigned long long sum_ = 0xCBF29CE484222325ull;
};

int run_at_once(const Bound& bound, Transport& transport, const Call& call) {
  Execution execution;
  execution.prepare(bound);
  std::vector<std::byte> arena(bound.arena_bytes());
  return execution.run(bound, transport, arena.data(), call);
}

/// Nobody can tell what the other ranks have got, so this one's call fails rather than go another way than theirs.
void must_have_run(int code, Rank rank) {
  if (code != 0) throw Error(fmt::format("rank {} cannot agree with the others: a message failed", rank));
}

// Of numbers; the process has each once.
std::shared_ptr<const Bound> kept_bound(std::string_view algorithm, const Shape& shape, Rank rank,
                                        std::size_t numbers) {
  using Key = std::tuple<Collective, Rank, Rank, Rank, std::size_t>;
  static auto* const mutex = new std::mutex;
  static auto* const bounds = new std::map<Key, std::shared_ptr<const Bound>>;
  const Key key{shape.collective, rank, shape.ranks, shape.root, numbers};
  const std::lock_guard lock(*mutex);
  if (const auto found = bounds->find(key); found != bounds->end()) return found->second;
  if (bounds->size() >= k_most_bounds) bounds->clear();
  return (*bounds)[key] = bound_of(algorithm, shape, rank, numbers, sizeof(long long));
}

}  // namespace

std::shared_ptr<const Bound> agreement_bound(Rank rank, Rank ranks, std::size_t numbers) {
  return kept_bound("recursive-doubling", {Collective::allreduce, ranks, 1, 0}, rank, numbers);
}

namespace {

template <typename Join>
int joined(const void* source, void* target, std::size_t elements, Join join) {
  for (std::size_t i = 0; i < elements; ++i) {
    long long one = 0, other = 0;
    std::memcpy(&one, static_cast<const std::byte*>(source) + i * sizeof one, sizeof one);
    std::memcpy(&other, static_cast<std::byte*>(target) + i * sizeof other, sizeof other);
    other = join(one, other);
    std::memcpy(static_cast<std::byte*>(target) + i * sizeof other, &other, sizeof other);
  }
  return 0;
}

}  // namespace

int keep_smaller(void*, const void* source, void* target, std::size_t elements) {
  return joined(source, target, elements, [](long long a, long long b) { return std::min(a, b); });
}

int keep_sum(void*, const void* source, void* target, std::size_t elements) {
  return joined(source, target, elements, [](long long a, long long b) { return a + b; });
}

long long checksum_of(std::string_view text) {
  Checksum sum;
  for (const char c : text) sum.add(static_cast<unsigned char>(c));
  return sum.value();
}

long long checksum_of(std::span<const int> numbers) {
  Checksum sum;
  for (const int number : numbers)
    for (unsigned shift = 0; shift < 32; shift += 8) sum.add(static_cast<unsigned char>(number >> shift));
  return sum.value();
}

std::size_t Findings::smallest(long long value) {
  values_.push_back(value);
  return values_.size() - 1;
}

int Agreement::reduce(std::span<long long> values, Transport& transport,
                      int (*keep)(void*, const void*, void*, std::size_t)) const {
  const std::vector<long long> own(values.begin(), values.end());
  return run_at_once(
      *agreement_bound(rank_, ranks_, values.size()), transport,
      {reinterpret_cast<const std::byte*>(own.data()), reinterpret_cast<std::byte*>(values.data()), keep, nullptr});
}

Agreement::Result Agreement::agree(const Findings& findings, Transport& transport) const {
  std::vector<long long> values;
  values.reserve(1 + 2 * findings.facts_.size() + findings.values_.size());
  values.push_back(findings.has_fault() ? rank_ : ranks_);
  for (const Findings::Fact& fact : findings.facts_) {
    values.push_back(fact.checksum);
    values.push_back(-fact.checksum);
  }
  values.insert(values.end(), findings.values_.begin(), findings.values_.end());
  must_have_run(reduce(values, transport), rank_);
  Result result;
  const auto first_value = static_cast<std::ptrdiff_t>(1 + 2 * findings.facts_.size());
  result.smallest.assign(values.begin() + first_value, values.end());
  if (values[0] < 0) {
    result.missing = static_cast<Rank>(values[0] + ranks_);
    return result;
  }
  if (values[0] != ranks_) {
    if (values[0] == rank_) result.fault = findings.fault_;
    return result;
  }
  for (std::size_t f = 0; f < findings.facts_.size(); ++f) {
    if (values[1 + 2 * f] == -values[2 + 2 * f]) continue;
    result.different = findings.facts_[f].what + findings.facts_[f].of;
    if (rank_ == 0) result.fault = fmt::format("ranks have {}; all must have the same", result.different);
    return result;
  }
  result.good = true;
  return result;
}

Agreement::Result Agreement::meet(const Findings& findings, const colltopo_callbacks& callbacks) const {
  if (callbacks.peer == nullptr) return agree(findings);
  PresentTransport present(transport_, callbacks, ranks_);
  Result result = agree(findings, present);
  if (result.missing) result.fault = fault_of_missing(callbacks, rank_, ranks_, result.missing);
  return result;
}

long long Agreement::least(long long value) const {
  must_have_run(least(&value), rank_);
  return value;
}

int Agreement::gather(std::span<int> values) const {
  const int own = values[static_cast<std::size_t>(rank_)];
  return gathered(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(values));
}

int Agreement::gathered(std::span<const std::byte> own, std::span<std::byte> all) const {
  return run_at_once(*bound_of("bruck", {Collective::allgather, ranks_, 1, 0}, rank_, own.size(), 1), transport_,
                     {own.data(), all.data()});
}

void Agreement::gather(std::span<const std::byte> own, std::span<std::byte> all) const {
  must_have_run(gathered(own, all), rank_);
}

// In few rounds, so that many ranks need few messages.
void Agreement::exchange(std::span<long long> numbers) const {
  const std::vector<long long> own(numbers.begin(), numbers.end());
  const int code =
      run_at_once(*bound_of("tra", {Collective::alltoall, ranks_, 1, 0}, rank_, 1, sizeof(long long)), transport_,
                  {reinterpret_cast<const std::byte*>(own.data()), reinterpret_cast<std::byte*>(numbers.data())});
  must_have_run(code, rank_);
}

std::optional<std::vector<std::vector<int>>> Agreement::gather_lists(std::span<const int> own, std::size_t most) const {
  std::vector<int> lengths(static_cast<std::size_t>(ranks_));
  lengths[static_cast<std::size_t>(rank_)] = static_cast<int>(own.size());
  must_have_run(gather(lengths), rank_);
  const auto longest = static_cast<std::size_t>(std::ranges::max(lengths));
  if (longest > most) return std::nullopt;
  std::vector<std::vector<int>> lists(lengths.size());
  if (longest == 0) return lists;
  std::vector<int> padded(own.begin(), own.end()), all(longest * lists.size());
  padded.resize(longest);
  gather(std::as_bytes(std::span(padded)), std::as_writable_bytes(std::span(all)));
  auto from = all.begin();
  for (std::size_t rank = 0; rank < lists.size(); ++rank, from += static_cast<std::ptrdiff_t>(longest))
    lists[rank].assign(from, from + lengths[rank]);
  return lists;
}

bool Agreement::all_good(std::string* fault) const {
  Findings findings;
  if (!fault->empty()) findings.fault(*fault);
  Result result = agree(findings);
  *fault = std::move(result.fault);
  return result.good;
}

std::string Agreement::text_of_rank_0(const std::string& text) const {
  const auto length = static_cast<std::size_t>(std::max(
      0LL, rank_ == 0 ? least(static_cast<long long>(text.size())) : least(std::numeric_limits<long long>::max())));
  return text_of_rank_0(text, length);
}

void Agreement::add_up(std::span<long long> values) const {
  must_have_run(reduce(values, transport_, keep_sum), rank_);
}

void Agreement::wait_at_root(Rank root) const {
  std::array<long long, 2> numbers{};
  const auto bytes = std::as_writable_bytes(std::span(numbers));
  must_have_run(run_at_once(*kept_bound("binomial", {Collective::reduce, ranks_, 1, root}, rank_, 1), transport_,
                            {bytes.data(), bytes.data() + sizeof(long long), keep_sum, nullptr}),
                rank_);
}

void Agreement::wait_for_root(Rank root) const {
  long long number = 0;
  auto* const bytes = reinterpret_cast<std::byte*>(&number);
  must_have_run(
      run_at_once(*kept_bound("binomial", {Collective::bcast, ranks_, 1, root}, rank_, 1), transport_, {bytes, bytes}),
      rank_);
}

std::string Agreement::text_of_rank_0(const std::string& text, std::size_t length) const {
  if (length == 0) return "";
  std::string result = text;
  result.resize(length);
  auto* const bytes = reinterpret_cast<std::byte*>(result.data());
  must_have_run(run_at_once(*bound_of("binomial", {Collective::bcast, ranks_, 1, 0}, rank_, length, 1), transport_,
                            {bytes, bytes}),
                rank_);
  return result;
}

}  // namespace colltopo
