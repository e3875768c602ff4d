#include <cmath>

#include "choice/policy.h"
#include "comm/class_race.h"

namespace colltopo::replay {

namespace {

std::vector<Belief> beliefs_of(const Start& start) {
  std::vector<Belief> beliefs;
  for (const std::optional<double>& expected : start.expected)
    beliefs.push_back(expected ? Belief{std::log(*expected), start.tune_error * start.tune_error} : Belief{});
  return beliefs;
}

/// Of one rank, which has nobody to send to.
class NoMessages final : public Transport {
 public:
  int send(const std::byte*, std::size_t, Rank, Lane, Request*) noexcept override { return 1; }
  int recv(std::byte*, std::size_t, Rank, Lane, Request*) noexcept override { return 1; }
  int test(Request*) noexcept override { return 1; }
  void abandon(Request*) noexcept override {}
  void progress() noexcept override {}
};

/// A class in a job of one rank, whose calls are ticks.
class RacePolicy : public Policy {
 public:
  explicit RacePolicy(const Start& start)
      : agreement_(0, 1, transport_), race_(agreement_, 0, 1, beliefs_of(start), start.expected.size() - 1, false) {
    race_.begin(0, 0, 0);
  }

  Call next() override {
    bool agreed = false;
    if (race_.is_waiting() && race_.wakes_at() <= now_) race_.wake(now_);
    if (!race_.is_waiting() && race_.rounds().is_over()) {
      race_.end_round(now_, std::nullopt);
      agreed = true;
    }
    if (race_.is_waiting()) return {race_.best(), false, agreed};
    return {race_.rounds().turn().contestant, true, agreed};
  }
  void took(double seconds) override {
    ++now_;
    if (race_.is_waiting()) return;
    if (race_.rounds().turn().counts) race_.rounds().add(race_.rounds().place(), seconds);
    race_.rounds().advance();
  }
  std::size_t best() const override { return race_.best(); }

 private:
  NoMessages transport_;
  Agreement agreement_;
  ClassRace race_;
  ClassRace::Tick now_ = 0;
};

}  // namespace

std::unique_ptr<Policy> race_policy(const Start& start) { return std::make_unique<RacePolicy>(start); }

}  // namespace colltopo::replay
