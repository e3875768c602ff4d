#include "choice/policy.h"
#include "comm/trial.h"

namespace colltopo::replay {

namespace {

constexpr std::size_t k_first_calls = 32;  // coll_topo_trial_after

class TrialPolicy : public Policy {
 public:
  explicit TrialPolicy(const Start& start) : trial_(start.expected, true) {}

  Call next() override {
    if (calls_++ < k_first_calls) return {0, false, false};
    bool agreed = false;
    if (!trial_.winner() && trial_.must_agree()) {
      trial_.narrow(trial_.times(), 1);
      agreed = true;
    }
    if (trial_.winner()) return {*trial_.winner(), false, agreed};
    return {trial_.turn().contestant, true, agreed};
  }
  void took(double seconds) override {
    if (calls_ <= k_first_calls || trial_.winner()) return;
    if (trial_.turn().counts) trial_.add(trial_.turn().contestant, seconds);
    trial_.advance();
  }
  std::size_t best() const override { return trial_.winner().value_or(0); }

 private:
  Trial trial_;
  std::size_t calls_ = 0;
};

}  // namespace

std::unique_ptr<Policy> trial_policy(const Start& start) { return std::make_unique<TrialPolicy>(start); }

}  // namespace colltopo::replay
