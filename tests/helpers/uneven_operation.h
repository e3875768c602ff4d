// Operations of calls whose blocks have sizes of their own, with every byte checked.
#pragma once

#include <algorithm>
#include <random>

#include "colltopo/colltopo.h"
#include "uneven.h"

namespace colltopo {

/// An alltoallv, or its like, that does not block.
class UnevenOperation {
 public:
  /// `how`: COLLTOPO_AGAIN, or 0.
  UnevenOperation(colltopo_comm* comm, int collective, const Traffic& traffic, int rank, int tag, std::mt19937& random,
                  int how = 0)
      : comm_(comm), collective_(collective), tag_(tag), how_(how), exchange_(traffic, rank, random) {
    blocks_ = {exchange_.input.bytes.data(), exchange_.input.at.data(), exchange_.output.bytes.data(),
               exchange_.output.at.data()};
    call_.input = exchange_.input.memory.data();
    call_.output = exchange_.output.memory.data();
    call_.blocks = &blocks_;
    call_.element_size = 1;
    turn_.context = this;
    turn_.body = [](void* context) {
      auto& self = *static_cast<UnevenOperation*>(context);
      self.code_ = self.make(COLLTOPO_IN_TURN);
    };
  }
  ~UnevenOperation() {
    if (operation_ != nullptr) colltopo_release(operation_);
  }
  UnevenOperation(const UnevenOperation&) = delete;
  UnevenOperation& operator=(const UnevenOperation&) = delete;

  void start() {
    code_ = make(0);
    if (code_ != COLLTOPO_UNKNOWN) return;
    if (colltopo_take_turn(comm_, &turn_) != COLLTOPO_SUCCESS) code_ = COLLTOPO_INVALID;
    colltopo_move_turns(comm_);
  }
  void start_again() {
    std::ranges::fill(exchange_.output.memory, TestBlocks::k_gap);
    is_over_ = colltopo_begin(operation_, &call_, tag_) != 0;
  }
  bool progress() {
    if (code_ == COLLTOPO_UNKNOWN) colltopo_move_turns(comm_);
    if (code_ == COLLTOPO_SUCCESS && !is_over_) is_over_ = colltopo_progress(operation_) != 0;
    return is_over_ || (code_ != COLLTOPO_SUCCESS && code_ != COLLTOPO_UNKNOWN);
  }
  bool is_right() const {
    return code_ == COLLTOPO_SUCCESS && colltopo_status(operation_) == 0 && exchange_.is_right();
  }

 private:
  int make(int in_turn) {
    const int code = colltopo_make(comm_, collective_, &call_, in_turn | how_, &operation_);
    if (code == COLLTOPO_SUCCESS) is_over_ = colltopo_begin(operation_, &call_, tag_) != 0;
    return code;
  }

  colltopo_comm* comm_;
  int collective_, tag_, how_;
  Exchange exchange_;
  colltopo_blocks blocks_{};
  colltopo_call call_{};
  colltopo_operation* operation_ = nullptr;
  colltopo_turn turn_{};
  int code_ = COLLTOPO_UNKNOWN;
  bool is_over_ = false;
};

}  // namespace colltopo
