#include "probe/measured.h"

#include <mpi.h>

#include <algorithm>
#include <iterator>

#include "probe/middle.h"

namespace colltopo::probe {

namespace {

constexpr double k_block = 1e-4;  // s, of calls in a row: long against the clock and who leaves a barrier first
constexpr int k_most_calls_of_block = 100;
// As programs make them: one call alone, from a barrier to its slowest rank, takes up to half as long again as one of
// several in a row, and not with every algorithm.
constexpr int k_calls_in_a_row = 5;
constexpr double k_alone = 1e-2;        // s, of a call that tells as much alone as in a row
constexpr double k_row = 2.5e-2;        // s, which longer rows are not worth
constexpr double k_share_of_row = 0.1;  // of a call alone, above which it does not tell what one of several takes
constexpr double k_least_of_meeting =
    0.1;  // of a meeting: a call after it that takes less cannot be told from that much
constexpr std::size_t k_enough_blocks = 5;

}  // namespace

int as_many(double all, double part, int least, int most) {
  return part * most <= all ? most : std::max(least, static_cast<int>(all / part));
}

Measured::ServedBy::ServedBy(const Contender& contender, const std::string& constants) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  const std::string key = "coll_topo_" + std::string(name(contender.collective)) + "_algorithm";
  MPI_Info_set(info, key.c_str(), contender.algorithm.c_str());
  MPI_Info_set(info, "coll_topo_constants", constants.c_str());
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm_);
  MPI_Info_free(&info);
}

void Measured::Timed::add(const std::vector<double>& visit, double middle, double meeting) {
  std::ranges::copy(visit, std::back_inserter(rows));
  middles.push_back(middle);
  best_visit = std::min(best_visit, median_of(visit));
  least = k_least_of_meeting * meeting;
}

Measured::Measured(const Contender& contender, const std::string& constants, const Counters* counters, Buffers& buffers,
                   RunOrder& order, Meetings& meetings)
    : contender_(contender),
      sizes_(contender.sizes.begin(), contender.sizes.end()),
      comm_(contender, constants),
      counters_(counters),
      buffers_(buffers),
      order_(order),
      meetings_(meetings) {}

bool Measured::begin(std::size_t bytes, double fastest) {
  caller_.emplace(comm_.get(), counters_, buffers_, order_, collective(), bytes);
  const auto known = timed_.find(bytes);
  if (known != timed_.end() && known->second.visits > 0 && best_visit(bytes) <= k_near_fastest * fastest) {
    plan_rows(known->second.one);
    return true;
  }
  const double meeting = rooted(collective()) ? meetings_.median() : 0;
  std::vector<double> seconds = first_calls();
  if (seconds.back() > k_row / k_calls_in_a_row && meetings_.of_a_row() > k_share_of_row * seconds.back()) {
    caller_->time(k_calls_in_a_row);
    seconds = caller_->slowest();
  }
  for (double& each : seconds) each = std::max(0.0, each - meeting);
  const double second = seconds.back();
  const double far = k_far * (fastest + meeting) - meeting;
  const bool was_far = timed_.contains(bytes) && best_visit(bytes) > far;
  const bool left = was_left(bytes), is_enough = second > k_alone || (second > far && was_far);
  if (second <= k_alone || !timed_.contains(bytes)) seconds = {second};  // after connections and plans
  if (!left && is_enough) timed_[bytes].add(seconds, middle_of(seconds), meeting);
  if (left || is_enough) {
    caller_.reset();
    return false;
  }
  plan_rows(second + 2 * meeting);
  return true;
}

void Measured::end(std::size_t bytes, const std::vector<double>& meetings) {
  std::vector<double> rows = caller_->slowest();
  const bool left = was_left(bytes);
  caller_.reset();
  if (left) return;
  Timed& timed = timed_[bytes];
  const double meeting = meetings.empty() ? 0 : median_of(meetings);
  timed.one = median_of(rows) + meeting;
  for (std::size_t i = 0; i < meetings.size(); ++i) rows[i] -= meetings[i];
  if (++timed.visits == 2) timed.forget();  // cold ones
  timed.add(rows, middle_of(rows), meeting);
}

double Measured::seconds(std::size_t bytes) const {
  const auto found = timed_.find(bytes);
  if (found == timed_.end()) return k_infinite;
  return std::max(middle_of(found->second.rows), found->second.least);
}

double Measured::best_visit(std::size_t bytes) const {
  const auto found = timed_.find(bytes);
  if (found == timed_.end()) return k_infinite;
  return std::max(found->second.best_visit, found->second.least);
}

ConstantsRecord::Times Measured::times() const {
  ConstantsRecord::Times times{std::string(name(collective())), contender_.algorithm, {}, contender_.component};
  for (const auto& [bytes, timed] : timed_) {
    const double seconds = std::max(middle_of(timed.rows), timed.least);
    if (seconds <= 0) continue;
    times.seconds[bytes] = seconds;
    if (const auto error = standard_error_of(timed.middles)) times.errors[bytes] = *error / seconds;
  }
  return times;
}

// The median; of few the least, as the first calls of a connection are slow. Where a meeting was taken off, whose own
// length varies by more than a short call has, both ways, the mean of the middle ones varies less.
double Measured::middle_of(const std::vector<double>& all) const {
  if (rooted(collective())) return middle_half_of(all);
  return all.size() >= k_enough_blocks ? median_of(all) : *std::ranges::min_element(all);
}

// s a call: of two, the first of which makes connections and plans; of one where that tells.
std::vector<double> Measured::first_calls() {
  caller_->time(1);
  std::vector<double> first = caller_->slowest();
  if (first.back() > k_sure) return first;
  caller_->time(1);
  return {first.back(), caller_->slowest().back()};
}

// `one`: s, of a call and two meetings.
void Measured::plan_rows(double one) {
  one_ = one;
  calls_ = as_many(k_block, one_, as_many(k_row, one_, 1, k_calls_in_a_row), k_most_calls_of_block);
}

bool Measured::was_left(std::size_t bytes) {
  const bool left = !caller_->was_always(!is_previous());
  if (left) left_.insert(bytes);
  return left;
}

}  // namespace colltopo::probe
