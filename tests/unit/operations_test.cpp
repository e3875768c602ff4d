// Operations over threads: many at once, completed in any order, before the ranks have agreed on anything, beside
// blocking calls, begun again and again; against values computed by hand.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <numeric>
#include <random>

#include "base/fiber.h"
#include "base/sanitizers.h"
#include "ranks.h"

namespace colltopo {
namespace {

using testing::Contains;
using testing::HasSubstr;

int add(void*, const void* source, void* target, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i)
    static_cast<std::int64_t*>(target)[i] += static_cast<const std::int64_t*>(source)[i];
  return 0;
}

std::int64_t number(int rank, std::size_t index, int round) {
  return 1000 * rank + static_cast<std::int64_t>(index) + 1000000 * round;
}

/// What a shell does with a call that does not block: known calls begin at once, others in their turn.
class Request {
 public:
  Request(colltopo_comm* comm, int rank, int ranks, int collective, std::size_t count, int tag)
      : comm_(comm), rank_(rank), ranks_(ranks), collective_(collective), round_(-tag), tag_(tag) {
    const auto all = static_cast<std::size_t>(ranks) * count;
    const bool shards_in = collective == COLLTOPO_ALLTOALL || collective == COLLTOPO_REDUCE_SCATTER;
    const bool shards_out = collective == COLLTOPO_ALLTOALL || collective == COLLTOPO_ALLGATHER;
    input_.resize(shards_in ? all : count);
    for (std::size_t i = 0; i < input_.size(); ++i) input_[i] = number(rank, i, round_);
    output_.assign(shards_out ? all : count, -1);
    call_.root = ranks - 1;
    if (collective == COLLTOPO_BCAST && rank == call_.root) output_ = input_;
    call_.input = input_.data();
    call_.output = output_.data();
    call_.count = count;
    call_.element_size = sizeof(std::int64_t);
    call_.op_properties = COLLTOPO_OP_COMMUTATIVE | COLLTOPO_OP_ASSOCIATIVE_BITS;
    call_.reduce = add;
  }
  ~Request() {
    if (operation_ != nullptr) colltopo_release(operation_);
  }
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  /// The code that colltopo_make gave at once.
  int start() {
    const int code = colltopo_make(comm_, collective_, &call_, 0, &operation_);
    if (code == COLLTOPO_SUCCESS) colltopo_begin(operation_, &call_, tag_);
    if (code != COLLTOPO_UNKNOWN) {
      code_ = code;
      return code;
    }
    turn_.context = this;
    turn_.body = [](void* context) {
      auto& request = *static_cast<Request*>(context);
      request.code_ = colltopo_make(request.comm_, request.collective_, &request.call_, 1, &request.operation_);
      if (request.code_ == COLLTOPO_SUCCESS) colltopo_begin(request.operation_, &request.call_, request.tag_);
    };
    EXPECT_EQ(colltopo_take_turn(comm_, &turn_), COLLTOPO_SUCCESS);
    colltopo_move_turns(comm_);
    return code;
  }
  void start_again() {
    std::fill(output_.begin(), output_.end(), -1);
    colltopo_begin(operation_, &call_, tag_);
  }
  bool progress() {
    if (code_ == COLLTOPO_UNKNOWN) colltopo_move_turns(comm_);
    if (code_ == COLLTOPO_UNKNOWN) return false;
    return code_ == COLLTOPO_DECLINED || colltopo_progress(operation_) != 0;
  }
  void wait() {
    while (!progress()) std::this_thread::yield();
  }
  int code() const { return code_; }
  int status() const { return colltopo_status(operation_); }

  void check() {
    ASSERT_EQ(code_, COLLTOPO_SUCCESS);
    const std::size_t count = call_.count;
    for (std::size_t i = 0; i < output_.size(); ++i) {
      const auto from = static_cast<int>(i / count);
      const std::size_t own = static_cast<std::size_t>(rank_) * count;
      const auto sum = [&](std::size_t at) {
        std::int64_t value = 0;
        for (int r = 0; r < ranks_; ++r) value += number(r, at, round_);
        return value;
      };
      std::int64_t wanted = 0;
      switch (collective_) {
        case COLLTOPO_ALLTOALL:
          wanted = number(from, own + i % count, round_);
          break;
        case COLLTOPO_ALLGATHER:
          wanted = number(from, i % count, round_);
          break;
        case COLLTOPO_ALLREDUCE:
          wanted = sum(i);
          break;
        case COLLTOPO_REDUCE_SCATTER:
          wanted = sum(own + i);
          break;
        default:  // bcast
          wanted = number(call_.root, i, round_);
      }
      EXPECT_EQ(output_[i], wanted) << "rank " << rank_ << ", collective " << collective_ << ", element " << i;
    }
  }

 private:
  colltopo_comm* comm_;
  int rank_, ranks_, collective_, round_, tag_;
  std::vector<std::int64_t> input_, output_;
  colltopo_call call_{};
  colltopo_operation* operation_ = nullptr;
  colltopo_turn turn_{};
  int code_ = COLLTOPO_UNKNOWN;
};

constexpr int k_collectives_tried[] = {COLLTOPO_ALLTOALL, COLLTOPO_ALLGATHER, COLLTOPO_ALLREDUCE,
                                       COLLTOPO_REDUCE_SCATTER, COLLTOPO_BCAST};

void force(colltopo_comm* comm) {
  for (const auto& [name, value] :
       std::vector<std::pair<const char*, const char*>>{{"alltoall_algorithm", "tra"},
                                                        {"allgather_algorithm", "ring"},
                                                        {"allreduce_algorithm", "ring"},
                                                        {"reduce_scatter_algorithm", "ring"},
                                                        {"bcast_algorithm", "binomial"}})
    ASSERT_EQ(colltopo_comm_set(comm, name, value), COLLTOPO_SUCCESS);
}

TEST(Operations, many_at_once_complete_in_any_order) {
  for (const int ranks : {2, 3, 4, 7}) {
    Ranks all(ranks);
    all.run([&](int rank, colltopo_comm* comm) {
      force(comm);
      std::vector<std::unique_ptr<Request>> requests;
      for (int i = 0; i < 60; ++i) {
        const auto count = static_cast<std::size_t>(1 + i % 4 * 33);
        requests.push_back(std::make_unique<Request>(comm, rank, ranks, k_collectives_tried[i % 5], count, -100 - i));
        requests.back()->start();
      }
      std::vector<std::size_t> order(requests.size());
      std::iota(order.begin(), order.end(), 0u);
      std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(rank)));
      for (const std::size_t i : order) {
        // A rank that waits for one moves all of them on.
        while (!requests[i]->progress())
          for (auto& other : requests) other->progress();
      }
      for (auto& request : requests) request->check();
    });
  }
}

TEST(Operations, first_call_does_not_wait_for_anybody) {
  Ranks all(3);
  std::atomic<bool> is_back = false;
  all.run([&](int rank, colltopo_comm* comm) {
    force(comm);
    Request request(comm, rank, 3, COLLTOPO_ALLREDUCE, 5, -100);
    // Rank 1 comes only after the others are back from their calls.
    if (rank == 1)
      while (!is_back) std::this_thread::yield();
    EXPECT_EQ(request.start(), COLLTOPO_UNKNOWN);
    EXPECT_FALSE(rank == 0 && request.progress());
    if (rank == 0) is_back = true;
    request.wait();
    request.check();
  });
}

TEST(Operations, a_call_like_one_of_late_needs_no_turn) {
  Ranks all(4);
  all.run([&](int rank, colltopo_comm* comm) {
    force(comm);
    for (int i = 0; i < 10; ++i) {
      Request request(comm, rank, 4, COLLTOPO_ALLGATHER, 7, -100 - i);
      EXPECT_EQ(request.start(), i == 0 ? COLLTOPO_UNKNOWN : COLLTOPO_SUCCESS);
      request.wait();
      request.check();
    }
  });
}

TEST(Operations, declined_ones_keep_their_place_in_the_order) {
  Ranks all(3);
  std::atomic<int> declined = 0;
  all.run([&](int rank, colltopo_comm* comm) {
    force(comm);
    ASSERT_EQ(colltopo_comm_set(comm, "allreduce_algorithm", "fallback"), COLLTOPO_SUCCESS);
    Request first(comm, rank, 3, COLLTOPO_ALLREDUCE, 5, -100), second(comm, rank, 3, COLLTOPO_ALLTOALL, 5, -101);
    first.start();
    second.start();
    second.wait();
    first.wait();
    second.check();
    declined += first.code() == COLLTOPO_DECLINED;
    Request third(comm, rank, 3, COLLTOPO_ALLREDUCE, 5, -102);
    EXPECT_EQ(third.start(), COLLTOPO_DECLINED);
  });
  EXPECT_EQ(declined, 3);
}

TEST(Operations, different_settings_decline_all_of_them) {
  Ranks all(3);
  std::atomic<int> declined = 0;
  all.run([&](int rank, colltopo_comm* comm) {
    force(comm);
    if (rank == 2) colltopo_comm_set(comm, "bcast_algorithm", "linear");
    Request request(comm, rank, 3, COLLTOPO_ALLREDUCE, 5, -100);
    request.start();
    request.wait();
    declined += request.code() == COLLTOPO_DECLINED;
  });
  EXPECT_EQ(declined, 3);
  EXPECT_THAT(all.said, Contains(HasSubstr("bcast_algorithm")));
}

TEST(Operations, blocking_calls_wait_for_turns_and_run_beside_operations) {
  Ranks all(4);
  all.run([&](int rank, colltopo_comm* comm) {
    force(comm);
    std::vector<std::unique_ptr<Request>> requests;
    for (int i = 0; i < 40; ++i) {
      requests.push_back(std::make_unique<Request>(comm, rank, 4, k_collectives_tried[i % 5],
                                                   static_cast<std::size_t>(1 + i), -100 - i));
      if (i != 0) requests.back()->start();
      std::int64_t own = rank + i, sum = -1;
      colltopo_call call{};
      call.input = &own;
      call.output = &sum;
      call.count = 1;
      call.element_size = sizeof own;
      call.op_properties = COLLTOPO_OP_COMMUTATIVE | COLLTOPO_OP_ASSOCIATIVE_BITS;
      call.reduce = add;
      // The blocking call's progress moves nobody's turn here, so turns are over before.
      while (i != 0 && requests.back()->code() == COLLTOPO_UNKNOWN) requests.back()->progress();
      EXPECT_EQ(colltopo_allreduce(comm, &call), COLLTOPO_SUCCESS);
      EXPECT_EQ(sum, 6 + 4 * i);
    }
    for (std::size_t i = requests.size() - 1; i > 0; --i) {
      while (!requests[i]->progress())
        for (std::size_t other = 1; other < requests.size(); ++other) requests[other]->progress();
      requests[i]->check();
    }
  });
}

TEST(Operations, begin_again_with_what_they_have) {
  Ranks all(4);
  all.run([&](int rank, colltopo_comm* comm) {
    force(comm);
    std::vector<std::unique_ptr<Request>> requests;
    for (const int collective : k_collectives_tried) {
      if (collective == COLLTOPO_BCAST) continue;  // its input is its output
      requests.push_back(std::make_unique<Request>(comm, rank, 4, collective, 10, -100 - collective));
      requests.back()->start();
    }
    for (auto& request : requests) request->wait();
    for (int round = 0; round < 20; ++round) {
      for (auto& request : requests) request->start_again();
      for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
        while (!(*request)->progress())
          for (auto& other : requests) other->progress();
        (*request)->check();
      }
    }
  });
}

TEST(Operations, an_error_ends_one_and_not_the_next) {
  Ranks all(2);
  std::atomic<int> failed = 0;
  std::atomic<int> arrived = 0;
  all.run([&](int rank, colltopo_comm* comm) {
    force(comm);
    {
      Request request(comm, rank, 2, COLLTOPO_ALLTOALL, 3, -100);
      request.start();
      request.wait();
      request.check();
    }
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
    if (rank == 0) {
      all.fail_message = all.sends() + 1;
      Request request(comm, rank, 2, COLLTOPO_ALLTOALL, 3, -101);
      request.start();
      request.wait();
      failed += request.status() == 77;
      all.fail_message = -1;
    }
    ++arrived;
    while (arrived < 4) std::this_thread::yield();
    Request request(comm, rank, 2, COLLTOPO_ALLTOALL, 3, -102);
    request.start();
    request.wait();
    request.check();
  });
  EXPECT_EQ(failed, 1);
}

TEST(Operations, least_and_gather_in_a_turn) {
  struct Turn {
    colltopo_comm* comm;
    int rank;
    long long least;
    int numbers[3];
    std::atomic<bool> over;
  };
  Ranks all(3);
  all.run([&](int rank, colltopo_comm* comm) {
    Turn turn{comm, rank, 10 - rank, {-1, -1, -1}, false};
    turn.numbers[rank] = 7 * rank;
    colltopo_turn taken{[](void* context) {
                          auto& own = *static_cast<Turn*>(context);
                          EXPECT_EQ(colltopo_least(own.comm, &own.least), 0);
                          EXPECT_EQ(colltopo_gather_numbers(own.comm, own.numbers), 0);
                          own.over = true;
                        },
                        &turn, nullptr};
    ASSERT_EQ(colltopo_take_turn(comm, &taken), COLLTOPO_SUCCESS);
    while (!turn.over) colltopo_move_turns(comm);
    EXPECT_EQ(turn.least, 8);
    EXPECT_THAT(turn.numbers, testing::ElementsAre(0, 7, 14));
  });
}

#if !defined(COLLTOPO_SANITIZES_ADDRESS) && !defined(COLLTOPO_SANITIZES_THREADS)
// No rank may wait for a turn that can never begin.
TEST(Operations, a_turn_that_has_no_memory_is_refused_at_once) {
  Ranks all(1);
  all.run([](int, colltopo_comm* comm) {
    int runs = 0;
    colltopo_turn turn{[](void* context) { ++*static_cast<int*>(context); }, &runs, nullptr};
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
    const rlimit none{1, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_AS, &none), 0);
    const int code = colltopo_take_turn(comm, &turn);
    ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
    EXPECT_EQ(code, COLLTOPO_INVALID);
    EXPECT_STREQ(colltopo_last_error(), "std::bad_alloc");
    EXPECT_EQ(colltopo_turns_to_come(comm), 0);
    EXPECT_EQ(colltopo_take_turn(comm, &turn), COLLTOPO_SUCCESS);
    EXPECT_EQ(runs, 1);
  });
}
#endif

TEST(Fiber, goes_on_where_it_paused_whoever_resumes_it) {
  struct Body {
    static void run(void* context) {
      auto& own = *static_cast<Body*>(context);
      for (int i = 0; i < 3; ++i) {
        own.seen.push_back(own.first + i);
        try {
          throw std::runtime_error("caught here");
        } catch (const std::exception&) {
          own.seen.push_back(10);
        }
        own.fiber.pause();
      }
    }
    int first = 0;
    std::vector<int> seen;
    Fiber fiber;
  } body;
  Fiber& fiber = body.fiber;
  for (body.first = 0; body.first < 9; body.first += 3) {
    fiber.set(Body::run, &body);
    EXPECT_FALSE(fiber.resume());
    std::thread other([&] { EXPECT_FALSE(fiber.resume()); });
    other.join();
    EXPECT_FALSE(fiber.resume());
    EXPECT_TRUE(fiber.resume());
  }
  EXPECT_THAT(body.seen, testing::ElementsAre(0, 10, 1, 10, 2, 10, 3, 10, 4, 10, 5, 10, 6, 10, 7, 10, 8, 10));
}

}  // namespace
}  // namespace colltopo
