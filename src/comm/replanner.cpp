#include "comm/replanner.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "colltopo/error.h"

namespace colltopo {

namespace {

constexpr const char* k_not_yet = "not yet";  // in place of shares

// Traffic that differs by less than this part from what was planned for is not planned for again.
constexpr double k_alike = 0.02;

constexpr std::chrono::seconds k_patience{5};

double total(std::span<const std::uint64_t> bytes) {
  double sum = 0;
  for (const std::uint64_t one : bytes) sum += static_cast<double>(one);
  return sum;
}

/// Of the parts that pairs have in all, not of how many calls there were.
bool are_alike(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b) {
  if (a.size() != b.size()) return false;
  const double all_a = total(a), all_b = total(b);
  if (all_a == 0 || all_b == 0) return all_a == all_b;
  double difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference += std::abs(static_cast<double>(a[i]) / all_a - static_cast<double>(b[i]) / all_b);
  return difference / 2 < k_alike;
}

}  // namespace

Replanner::Replanner(Rank rank, Rank ranks, int every, std::shared_ptr<const LoadedProgram> original,
                     std::unique_ptr<SharePlanner> planner, const colltopo_callbacks& callbacks,
                     const Agreement& agreement)
    : rank_(rank),
      every_(every),
      left_(every),
      original_(std::move(original)),
      in_force_(original_),
      planner_(std::move(planner)),
      transport_(callbacks),
      agreement_(agreement),
      sums_(static_cast<std::size_t>(ranks), 0),
      under_way_(std::make_unique<std::vector<std::uint64_t>>(rank == 0 ? sums_.size() * sums_.size() : sums_.size())),
      requests_(rank == 0 ? sums_.size() : 1, nullptr) {}

// All ranks end after the same call, so what was sent arrives; but after an error it need not, and keeps its memory.
Replanner::~Replanner() {
  ends_ = true;
  if (thread_.joinable()) thread_.join();
  const auto begin = std::chrono::steady_clock::now();
  while (!have_come() && std::chrono::steady_clock::now() - begin < k_patience) transport_.progress();
  if (have_come()) return;
  for (Transport::Request& request : requests_)
    if (request != nullptr) transport_.abandon(&request);
  (void)under_way_.release();
}

bool Replanner::counts(const colltopo_call& call) {
  if (stage_ == Stage::ended) return false;
  for (std::size_t rank = 0; rank < sums_.size(); ++rank) sums_[rank] += call.blocks->input_bytes[rank];
  ++calls_;
  if (--left_ > 0) return false;
  left_ = every_;
  return true;
}

Replanner::Outcome Replanner::meet(Collective collective) {
  transport_.serve(collective);
  switch (stage_) {
    case Stage::counting:
      send_sums();
      return {};
    case Stage::gathering:
      if (have_come()) begin_plan();
      stage_ = Stage::planning;
      return {};
    case Stage::planning:
      return take(agreement_.text_of_rank_0(rank_ == 0 ? answer() : ""));
    case Stage::ended:
      break;
  }
  return {};
}

// What was sent before has come by now, for rank 0 has planned by it; the request may not know yet.
void Replanner::send_sums() {
  while (rank_ != 0 && !have_come()) transport_.progress();
  stage_ = Stage::gathering;
  calls_under_way_ = calls_;
  calls_ = 0;
  const std::size_t row = sums_.size(), bytes = row * sizeof(std::uint64_t);
  std::ranges::copy(sums_, under_way_->begin());
  std::ranges::fill(sums_, 0);
  if (rank_ != 0)
    (void)transport_.send(reinterpret_cast<const std::byte*>(under_way_->data()), bytes, 0, 0, &requests_.front());
  for (std::size_t rank = 1; rank_ == 0 && rank < row; ++rank)
    (void)transport_.recv(reinterpret_cast<std::byte*>(under_way_->data() + rank * row), bytes, static_cast<Rank>(rank),
                          0, &requests_[rank]);
}

bool Replanner::have_come() {
  for (Transport::Request& request : requests_)
    if (request != nullptr) (void)transport_.test(&request);
  return std::ranges::all_of(requests_, [](Transport::Request request) { return request == nullptr; });
}

// Beside the calls that go on. Lets nothing out: the other ranks wait for what this one says.
void Replanner::begin_plan() {
  if (rank_ != 0 || thread_.joinable()) return;
  is_made_ = false;
  made_ = {};
  try {
    if (are_alike(*under_way_, planned_for_)) {
      is_made_ = true;
      return;
    }
    planned_for_ = *under_way_;
    thread_ = std::thread([this] {
      try {
        made_ = planner_->plan(planned_for_, ends_);
      } catch (const std::exception& error) {
        fault_ = error.what();
      }
      is_made_ = true;
    });
  } catch (const std::exception& error) {
    fault_ = error.what();
    is_made_ = true;
  }
}

std::string Replanner::answer() {
  if (!thread_.joinable() && !is_made_ && have_come()) begin_plan();
  if (!is_made_) return k_not_yet;
  if (thread_.joinable()) thread_.join();
  is_made_ = false;
  return fault_.empty() ? text_of(made_) : "";
}

Replanner::Outcome Replanner::take(const std::string& answer) {
  if (answer == k_not_yet) return {};
  Outcome outcome = took(answer);
  if (stage_ != Stage::ended) send_sums();
  return outcome;
}

Replanner::Outcome Replanner::took(const std::string& answer) {
  AgreedShares agreed = agreed_shares(agreement_, *original_, answer, rank_, &fault_);
  if (agreed.failed) {
    stage_ = Stage::ended;
    return {false, 0, fault_.empty() ? "" : fmt::format("shares no longer follow the traffic: {}", fault_)};
  }
  if (agreed.file == nullptr) return {};
  in_force_ = std::move(agreed.file);
  ++taken_;
  if (rank_ != 0) return {true, 1, ""};
  return {true, 1, fmt::format("traffic of {} calls: {}", calls_under_way_, to_say(made_, calls_under_way_))};
}

}  // namespace colltopo
