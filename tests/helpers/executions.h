// An execution with what it needs in one object: a plan, what it is bound to, and an arena.
#pragma once

#include <memory>
#include <vector>

#include "colltopo/execution.h"

namespace colltopo {

class OneExecution {
 public:
  OneExecution(const Plan& plan, Transport& transport)
      : plan_(std::make_shared<const Plan>(plan)), transport_(transport) {}

  /// Throws away what it was bound to unless that was equal.
  void bind(const Binding& binding) {
    if (bound_ != nullptr && bound_->is_for(binding)) return;
    bound_ = std::make_unique<Bound>(plan_, binding);
    arena_.resize(bound_->arena_bytes());
    execution_.prepare(*bound_);
  }
  void start(const Call& call) { execution_.start(*bound_, transport_, arena_.data(), call); }
  bool progress() { return execution_.progress(); }
  int run(const Call& call) { return execution_.run(*bound_, transport_, arena_.data(), call); }
  int status() const { return execution_.status(); }
  const Bound& bound() const { return *bound_; }

 private:
  std::shared_ptr<const Plan> plan_;
  Transport& transport_;
  std::unique_ptr<Bound> bound_;
  std::vector<std::byte> arena_;
  Execution execution_;
};

}  // namespace colltopo
