// The C API over threads: every collective against values computed by hand, settings, fallbacks and errors.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <fstream>
#include <numeric>
#include <sstream>

#include "colltopo/algorithms.h"
#include "colltopo/text.h"
#include "colltopo/verify.h"
#include "ranks.h"

namespace colltopo {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

Schedule proved(Schedule schedule) {
  schedule.proof = proof_of(verify(schedule));
  return schedule;
}

int add(void*, const void* source, void* target, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i)
    static_cast<std::int64_t*>(target)[i] += static_cast<const std::int64_t*>(source)[i];
  return 0;
}

colltopo_call call_of(const void* input, void* output, std::size_t count) {
  colltopo_call call{};
  call.input = input;
  call.output = output;
  call.count = count;
  call.element_size = sizeof(std::int64_t);
  call.op_properties = COLLTOPO_OP_COMMUTATIVE | COLLTOPO_OP_ASSOCIATIVE_BITS;
  call.reduce = add;
  return call;
}

std::int64_t number(int rank, std::size_t index) { return 1000 * rank + static_cast<std::int64_t>(index); }

std::vector<std::int64_t> input_of(int rank, std::size_t count) {
  std::vector<std::int64_t> input(count);
  for (std::size_t i = 0; i < count; ++i) input[i] = number(rank, i);
  return input;
}

// Serves one allreduce of `count` elements and checks it; returns the code.
int checked_allreduce(int ranks, int rank, colltopo_comm* comm, std::size_t count, bool in_place = false) {
  std::vector<std::int64_t> input = input_of(rank, count),
                            output = in_place ? input : std::vector<std::int64_t>(count, -1);
  colltopo_call call = call_of(input.data(), output.data(), count);
  call.in_place = in_place ? 1 : 0;
  const int code = colltopo_allreduce(comm, &call);
  if (code != COLLTOPO_SUCCESS) return code;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t expected = 1000 * ranks * (ranks - 1) / 2 + ranks * static_cast<std::int64_t>(i);
    EXPECT_EQ(output[i], expected) << "rank " << rank << " element " << i;
  }
  return code;
}

int checked_alltoall(int ranks, int rank, colltopo_comm* comm, std::size_t count, bool in_place = false) {
  const auto all = static_cast<std::size_t>(ranks) * count;
  std::vector<std::int64_t> input = input_of(rank, all), output = in_place ? input : std::vector<std::int64_t>(all, -1);
  colltopo_call call = call_of(input.data(), output.data(), count);
  call.in_place = in_place ? 1 : 0;
  const int code = colltopo_alltoall(comm, &call);
  if (code != COLLTOPO_SUCCESS) return code;
  for (int from = 0; from < ranks; ++from) {
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(output[static_cast<std::size_t>(from) * count + i],
                number(from, static_cast<std::size_t>(rank) * count + i));
    }
  }
  return code;
}

int checked_allgather(int ranks, int rank, colltopo_comm* comm, std::size_t count) {
  std::vector<std::int64_t> input = input_of(rank, count), output(static_cast<std::size_t>(ranks) * count, -1);
  const colltopo_call call = call_of(input.data(), output.data(), count);
  const int code = colltopo_allgather(comm, &call);
  if (code != COLLTOPO_SUCCESS) return code;
  for (int from = 0; from < ranks; ++from) {
    for (std::size_t i = 0; i < count; ++i)
      EXPECT_EQ(output[static_cast<std::size_t>(from) * count + i], number(from, i));
  }
  return code;
}

TEST(CApi, forced_algorithms_serve_every_collective_and_give_right_values) {
  for (const int ranks : {2, 3, 4, 5, 8}) {
    for (const Algorithm& algorithm : algorithms()) {
      Ranks all(ranks);
      std::atomic<int> served = 0;
      all.run([&](int rank, colltopo_comm* comm) {
        const std::string name(algorithm.name);
        if (serves(algorithm, Collective::alltoall)) {
          ASSERT_EQ(colltopo_comm_set(comm, "alltoall_algorithm", name.c_str()), COLLTOPO_SUCCESS);
          for (const std::size_t count : {1u, 7u, 1u}) {
            for (const bool in_place : {false, true}) {
              if (checked_alltoall(ranks, rank, comm, count, in_place) == COLLTOPO_SUCCESS) ++served;
            }
          }
        }
        if (serves(algorithm, Collective::allreduce)) {
          ASSERT_EQ(colltopo_comm_set(comm, "allreduce_algorithm", name.c_str()), COLLTOPO_SUCCESS);
          for (const std::size_t count : {1u, 100u, 3u, 100u}) {
            for (const bool in_place : {false, true}) {
              if (checked_allreduce(ranks, rank, comm, count, in_place) == COLLTOPO_SUCCESS) ++served;
            }
          }
        }
      });
      const bool refuses = !algorithm.refusal({Collective::allreduce, ranks, 1, 0}, {}).empty();
      if (refuses || (!serves(algorithm, Collective::alltoall) && !serves(algorithm, Collective::allreduce))) continue;
      EXPECT_GT(served, 0) << algorithm.name << " on " << ranks;
    }
  }
}

TEST(CApi, rooted_and_scattering_collectives_give_right_values) {
  constexpr int ranks = 5;
  Ranks all(ranks);
  all.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "bcast_algorithm", "binomial");
    colltopo_comm_set(comm, "reduce_algorithm", "binomial");
    colltopo_comm_set(comm, "reduce_scatter_algorithm", "ring");
    colltopo_comm_set(comm, "allgather_algorithm", "bruck");
    for (int root = 0; root < ranks; ++root) {
      std::vector<std::int64_t> buffer = rank == root ? input_of(root, 9) : std::vector<std::int64_t>(9, -1);
      colltopo_call call = call_of(nullptr, buffer.data(), 9);
      call.root = root;
      ASSERT_EQ(colltopo_bcast(comm, &call), COLLTOPO_SUCCESS);
      EXPECT_EQ(buffer, input_of(root, 9));

      const std::vector<std::int64_t> input = input_of(rank, 4);
      std::vector<std::int64_t> output = root % 2 == 0 ? std::vector<std::int64_t>(4, -1) : input;
      call = call_of(input.data(), rank == root ? output.data() : nullptr, 4);
      call.root = root;
      call.in_place = rank == root && root % 2 == 1 ? 1 : 0;
      ASSERT_EQ(colltopo_reduce(comm, &call), COLLTOPO_SUCCESS);
      for (std::size_t i = 0; rank == root && i < 4; ++i)
        EXPECT_EQ(output[i], 10000 + 5 * static_cast<std::int64_t>(i));
    }
    const std::vector<std::size_t> counts = {3, 0, 1, 5, 2};
    for (const bool in_place : {false, true}) {
      std::vector<std::int64_t> input = input_of(rank, 11), output(11, -1);
      if (in_place) output = input;
      colltopo_call call = call_of(input.data(), output.data(), 0);
      call.counts = counts.data();
      call.in_place = in_place ? 1 : 0;
      ASSERT_EQ(colltopo_reduce_scatter(comm, &call), COLLTOPO_SUCCESS);
      const auto first = std::accumulate(counts.begin(), counts.begin() + rank, std::size_t{0});
      for (std::size_t i = 0; i < counts[static_cast<std::size_t>(rank)]; ++i) {
        EXPECT_EQ(output[i], 10000 + 5 * static_cast<std::int64_t>(first + i)) << "rank " << rank;
      }
    }
    for (const bool in_place : {false, true}) {
      const std::vector<std::int64_t> mine = input_of(rank, 3);
      std::vector<std::int64_t> output(15, -1);
      if (in_place) std::copy(mine.begin(), mine.end(), output.begin() + 3 * rank);
      colltopo_call call = call_of(mine.data(), output.data(), 3);
      call.in_place = in_place ? 1 : 0;
      ASSERT_EQ(colltopo_allgather(comm, &call), COLLTOPO_SUCCESS);
      for (int from = 0; from < ranks; ++from) {
        for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(output[static_cast<std::size_t>(3 * from) + i], number(from, i));
      }
    }
  });
}

// Buffers that MPI does not look at are null: the others' of a gather, and what a root in place does not give.
TEST(CApi, gather_and_scatter_give_right_values_from_any_root_and_in_place) {
  constexpr std::size_t count = 3;
  for (const int ranks : {1, 2, 5, 8})
    for (const char* const algorithm : {"linear", "binomial", "two-level"}) {
      Ranks all(ranks);
      for (int rank = 0; rank < ranks; ++rank) all.node_of.push_back(rank % 3);
      all.run([&](int rank, colltopo_comm* comm) {
        ASSERT_EQ(colltopo_comm_set(comm, "gather_algorithm", algorithm), COLLTOPO_SUCCESS);
        ASSERT_EQ(colltopo_comm_set(comm, "scatter_algorithm", algorithm), COLLTOPO_SUCCESS);
        const std::size_t whole = static_cast<std::size_t>(ranks) * count;
        for (int root = 0; root < ranks; ++root)
          for (const bool in_place : {false, true, false}) {
            const bool is_root = rank == root;
            const auto own = static_cast<std::ptrdiff_t>(count) * rank;
            const std::vector<std::int64_t> input = input_of(rank, count);
            std::vector<std::int64_t> output(is_root ? whole : 0, -1);
            if (in_place && is_root) std::ranges::copy(input, output.begin() + own);
            colltopo_call call = call_of(in_place && is_root ? nullptr : input.data(), output.data(), count);
            call.root = root;
            call.in_place = in_place && is_root ? 1 : 0;
            ASSERT_EQ(colltopo_gather(comm, &call), COLLTOPO_SUCCESS);
            for (std::size_t i = 0; i < output.size(); ++i)
              ASSERT_EQ(output[i], number(static_cast<int>(i / count), i % count)) << algorithm << " root " << root;

            const std::vector<std::int64_t> sent = input_of(root, whole);
            std::vector<std::int64_t> received(count, -1);
            call = call_of(is_root ? sent.data() : nullptr, in_place && is_root ? nullptr : received.data(), count);
            call.root = root;
            call.in_place = in_place && is_root ? 1 : 0;
            ASSERT_EQ(colltopo_scatter(comm, &call), COLLTOPO_SUCCESS);
            EXPECT_EQ(sent, input_of(root, whole));
            for (std::size_t i = 0; i < count && !(in_place && is_root); ++i)
              ASSERT_EQ(received[i], number(root, i + static_cast<std::size_t>(own))) << algorithm << " root " << root;
          }
      });
    }
}

TEST(CApi, a_wrong_setting_declines_its_collective_alone_and_says_what_is_allowed) {
  Ranks all(2);
  all.run([&](int rank, colltopo_comm* comm) {
    EXPECT_EQ(colltopo_comm_set(comm, "alltoall_radix", "1"), COLLTOPO_INVALID);
    EXPECT_THAT(colltopo_last_error(),
                HasSubstr("alltoall_radix is 1; must be 0 (chosen) or at least 2; using the next component"));
    EXPECT_EQ(colltopo_comm_set(comm, "allreduce_algorithm", "ring"), COLLTOPO_SUCCESS);
    EXPECT_EQ(checked_alltoall(2, rank, comm, 1), COLLTOPO_DECLINED);
    EXPECT_EQ(checked_allreduce(2, rank, comm, 1), COLLTOPO_SUCCESS);
  });
}

TEST(CApi, wrong_settings_are_named_with_what_is_allowed) {
  Ranks all(1);
  all.run([&](int, colltopo_comm* comm) {
    const auto refusal = [&](const char* name, const char* value) {
      EXPECT_EQ(colltopo_comm_set(comm, name, value), COLLTOPO_INVALID) << name << "=" << value;
      return std::string(colltopo_last_error());
    };
    EXPECT_THAT(refusal("alltoall_algorithm", "bruk"),
                HasSubstr("'bruk'; must be one of auto, fallback, file:PATH, tra"));
    EXPECT_THAT(refusal("alltoall_algorithm", "swing"), HasSubstr("must be one of"));
    EXPECT_THAT(refusal("alltoall_algorithm", "tra:radix=x"), HasSubstr("radix of alltoall_algorithm is 'x'"));
    EXPECT_THAT(refusal("alltoall_algorithm", "tra:speed=9"), HasSubstr("option 'speed=9'; must be radix"));
    EXPECT_THAT(refusal("alltoall_algorithm", "file:"), HasSubstr("without a path"));
    EXPECT_THAT(refusal("group", "socket"),
                HasSubstr("group is 'socket'; must be node, package, numa, l3 or a number"));
    EXPECT_THAT(refusal("group", "0"), HasSubstr("from 1"));
    EXPECT_THAT(refusal("segment_bytes", "many"), HasSubstr("number of bytes"));
    EXPECT_THAT(refusal("pace", "slow"), HasSubstr("must be free or steps"));
    EXPECT_THAT(refusal("latency_node", "fast"), HasSubstr("a time such as 2us"));
    EXPECT_THAT(refusal("bandwidth_network", "0"), HasSubstr("a bandwidth such as"));
    EXPECT_THAT(refusal("verbose", "3"), HasSubstr("from 0 to 2"));
    EXPECT_THAT(refusal("topology", "torus:0x3"), HasSubstr("torus:0x3"));
    EXPECT_THAT(refusal("no_such", "1"), HasSubstr("there is no setting 'no_such'"));
  });
}

TEST(CApi, every_setting_accepts_its_own_default) {
  Ranks all(1);
  all.run([&](int, colltopo_comm* comm) {
    for (const colltopo_setting* s = colltopo_settings(); s->name != nullptr; ++s) {
      EXPECT_EQ(colltopo_comm_set(comm, s->name, s->default_value), COLLTOPO_SUCCESS)
          << s->name << ": " << colltopo_last_error();
    }
  });
}

TEST(CApi, ranks_with_different_settings_all_decline_and_say_so) {
  Ranks all(3);
  all.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "allreduce_algorithm", rank == 1 ? "ring" : "recursive-halving");
    EXPECT_EQ(checked_allreduce(3, rank, comm, 4), COLLTOPO_DECLINED);
    EXPECT_EQ(checked_alltoall(3, rank, comm, 4), COLLTOPO_DECLINED);
  });
  EXPECT_EQ(all.sends(), 2 * 4);  // two agreements among three: a pair folds, a pair swaps, a pair unfolds
  ASSERT_EQ(all.said.size(), 1u);
  EXPECT_THAT(all.said,
              Each(HasSubstr("0: ranks have different values of allreduce_algorithm; all must have the same")));
}

TEST(CApi, lines_call_the_previous_implementation_as_the_caller_does) {
  const auto said = [](const char* previous) {
    Ranks all(3);
    all.previous = previous;
    all.run([&](int rank, colltopo_comm* comm) {
      colltopo_comm_set(comm, "allgather_algorithm", "recursive-doubling");
      EXPECT_EQ(checked_allgather(3, rank, comm, 1), COLLTOPO_DECLINED);
    });
    return all.said;
  };
  EXPECT_THAT(said("the MPI library"), ElementsAre(HasSubstr("(bruck serves any number); using the MPI library")));
  EXPECT_THAT(said(nullptr), ElementsAre(HasSubstr("(bruck serves any number); using the previous implementation")));
}

TEST(CApi, a_rank_waits_for_each_message_by_the_callback_that_does_if_there_is_one) {
  const auto waits = [](int calls) {
    Ranks all(4);
    all.can_wait = true;
    all.run([&](int rank, colltopo_comm* comm) {
      colltopo_comm_set(comm, "alltoall_algorithm", "linear");
      for (int call = 0; call < calls; ++call) EXPECT_EQ(checked_alltoall(4, rank, comm, 3), COLLTOPO_SUCCESS);
    });
    return all.waits();
  };
  EXPECT_EQ(waits(7) - waits(2), 4 * 5 * 3);  // sends are done with at once here; ranks agree once
}

TEST(CApi, nothing_is_communicated_before_the_first_call) {
  Ranks all(4);
  all.run([&](int, colltopo_comm* comm) { colltopo_comm_set(comm, "allreduce_algorithm", "ring"); });
  EXPECT_EQ(all.sends(), 0);
}

TEST(CApi, what_the_shape_refuses_is_said_once_and_declines) {
  Ranks all(3);
  all.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "allgather_algorithm", "recursive-doubling");
    for (const std::size_t count : {1u, 2u, 3u}) EXPECT_EQ(checked_allgather(3, rank, comm, count), COLLTOPO_DECLINED);
  });
  ASSERT_EQ(all.said.size(), 1u);
  EXPECT_THAT(all.said, Each(HasSubstr("allgather on 3 ranks: recursive-doubling needs a power of two (bruck serves "
                                       "any number); using the next component")));
}

// One setting for a job's communicators of 7, 4 and 3 ranks.
TEST(CApi, values_that_do_not_fit_a_communicator_are_fitted) {
  for (const char* setting : {"tra:radix=9", "tra2:group=3", "tra2:group=3,intra-radix=8,inter-radix=8"}) {
    for (const int ranks : {7, 4, 3}) {
      Ranks all(ranks);
      all.run([&](int rank, colltopo_comm* comm) {
        colltopo_comm_set(comm, "alltoall_algorithm", setting);
        EXPECT_EQ(checked_alltoall(ranks, rank, comm, 5), COLLTOPO_SUCCESS) << setting << " on " << ranks;
      });
      EXPECT_THAT(all.said, testing::IsEmpty());
    }
  }
}

TEST(CApi, an_operation_that_needs_the_order_of_ranks_is_served_in_order_or_not_at_all) {
  // Composition of x -> a x + b, as pairs of 32 bits.
  const auto compose = [](void*, const void* source, void* target, std::size_t elements) {
    for (std::size_t i = 0; i < elements; ++i) {
      const auto left = static_cast<const std::uint64_t*>(source)[i], right = static_cast<std::uint64_t*>(target)[i];
      const auto a = static_cast<std::uint32_t>(left >> 32), b = static_cast<std::uint32_t>(left);
      const auto c = static_cast<std::uint32_t>(right >> 32), d = static_cast<std::uint32_t>(right);
      static_cast<std::uint64_t*>(target)[i] = std::uint64_t{a * c} << 32 | static_cast<std::uint32_t>(a * d + b);
    }
    return 0;
  };
  for (const char* algorithm : {"recursive-doubling", "ring", "recursive-halving"}) {
    constexpr int ranks = 4;
    Ranks all(ranks);
    std::vector<int> codes(ranks);
    all.run([&](int rank, colltopo_comm* comm) {
      colltopo_comm_set(comm, "allreduce_algorithm", algorithm);
      const std::uint64_t mine =
          std::uint64_t{static_cast<std::uint32_t>(2 * rank + 3)} << 32 | static_cast<std::uint32_t>(rank + 5);
      std::vector<std::uint64_t> input(6, mine), output(6, 0);
      colltopo_call call = call_of(input.data(), output.data(), 6);
      call.reduce = compose;
      call.op_properties = 0;
      codes[static_cast<std::size_t>(rank)] = colltopo_allreduce(comm, &call);
      if (codes[static_cast<std::size_t>(rank)] != COLLTOPO_SUCCESS) return;
      std::uint32_t a = 3, b = 5;
      for (std::uint32_t r = 1; r < ranks; ++r) b = a * (r + 5) + b, a *= 2 * r + 3;
      EXPECT_THAT(output, Each(std::uint64_t{a} << 32 | b)) << algorithm;
    });
    EXPECT_THAT(codes, Each(std::string(algorithm) == "recursive-doubling" ? COLLTOPO_SUCCESS : COLLTOPO_DECLINED))
        << algorithm;
  }
}

TEST(CApi, errors_of_the_transport_come_back_with_their_code) {
  Ranks pair(2);
  pair.fail_message = 5;  // two agreements send four
  std::vector<int> codes(2, 0);
  pair.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "bcast_algorithm", "binomial");
    std::vector<std::int64_t> buffer(4, rank);
    colltopo_call call = call_of(nullptr, buffer.data(), 4);
    if (rank == 0) {
      codes[0] = colltopo_bcast(comm, &call);
      codes[0] = codes[0] == 77 && colltopo_bcast(comm, &call) == COLLTOPO_SUCCESS ? 77 : -1;  // the next call works
    } else {
      codes[1] = colltopo_bcast(comm, &call);
    }
  });
  EXPECT_EQ(codes[0], 77);
  EXPECT_EQ(codes[1], COLLTOPO_SUCCESS);
}

TEST(CApi, a_communicator_of_one_rank_copies) {
  Ranks lonely(1);
  lonely.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "allreduce_algorithm", "ring");
    EXPECT_EQ(checked_allreduce(1, rank, comm, 3), COLLTOPO_SUCCESS);
  });
}

TEST(CApi, counters_tell_what_ran_and_between_which_nodes) {
  const auto value = [](const std::string& name) {
    std::size_t index = 0;
    for (const colltopo_counter* c = colltopo_counters(); c->name != nullptr; ++c, ++index) {
      if (name == c->name) return colltopo_counter_value(index);
    }
    ADD_FAILURE() << name;
    return 0ull;
  };
  const auto calls = value("calls"), tra2 = value("calls_tra2"), across = value("messages_between_nodes"),
             hits = value("plan_hits");
  Ranks all(4);
  all.node_of = {0, 0, 1, 1};
  all.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "alltoall_algorithm", "tra2:intra-radix=2,inter-radix=2");
    for (int i = 0; i < 5; ++i) checked_alltoall(4, rank, comm, 2);
  });
  EXPECT_EQ(value("calls") - calls, 20u);
  EXPECT_EQ(value("calls_tra2") - tra2, 20u);
  EXPECT_EQ(value("messages_between_nodes") - across, 20u);  // K2 = 1 message per rank and call
  EXPECT_EQ(value("plan_hits") - hits, 16u);
}

TEST(CApi, schedule_files_are_loaded_or_refused_by_all_ranks_alike) {
  const std::string good = testing::TempDir() + "c_api_good.sched", other = testing::TempDir() + "c_api_other.sched";
  {
    std::ofstream out(good);
    write_schedule(out, proved(generate(*algorithm_named("ring"), {Collective::allreduce, 3, 1, 0}, {})));
    std::ofstream larger(other);
    write_schedule(larger, proved(generate(*algorithm_named("ring"), {Collective::allreduce, 4, 1, 0}, {})));
  }
  Ranks loads(3);
  loads.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "allreduce_algorithm", ("file:" + good).c_str());
    for (const bool in_place : {false, true})
      EXPECT_EQ(checked_allreduce(3, rank, comm, 10, in_place), COLLTOPO_SUCCESS);
  });
  Ranks refuses(3);
  refuses.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "allreduce_algorithm", ("file:" + other).c_str());
    for (int i = 0; i < 2; ++i) EXPECT_EQ(checked_allreduce(3, rank, comm, 10), COLLTOPO_DECLINED);
  });
  ASSERT_EQ(refuses.said.size(), 1u);
  EXPECT_THAT(refuses.said, Each(HasSubstr("is for 4 ranks, this communicator has 3; using the next component")));
  Ranks missing(2);
  missing.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "allreduce_algorithm", "file:/nowhere/at.sched");
    EXPECT_EQ(checked_allreduce(2, rank, comm, 1), COLLTOPO_DECLINED);
  });
  ASSERT_EQ(missing.said.size(), 1u);
  EXPECT_THAT(missing.said, Each(HasSubstr("/nowhere/at.sched")));

  // Different paths are different settings.
  Ranks one(3);
  one.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "allreduce_algorithm", ("file:" + (rank == 2 ? good + ".missing" : good)).c_str());
    EXPECT_EQ(checked_allreduce(3, rank, comm, 10), COLLTOPO_DECLINED);
  });
  ASSERT_EQ(one.said.size(), 1u);
  EXPECT_THAT(one.said, Each(HasSubstr("different values of")));
}

std::string written(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(CApi, a_file_serves_only_what_its_proof_allows) {
  const std::string path = testing::TempDir() + "c_api_ring.sched";
  std::ofstream(path) << [] {
    std::ostringstream out;
    write_schedule(out, proved(generate(*algorithm_named("ring"), {Collective::allreduce, 3, 1, 0}, {})));
    return out.str();
  }();
  Ranks all(3);
  all.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "allreduce_algorithm", ("file:" + path).c_str());
    EXPECT_EQ(checked_allreduce(3, rank, comm, 4), COLLTOPO_SUCCESS);
    std::vector<std::int64_t> input(2), output(2);
    colltopo_call call = call_of(input.data(), output.data(), 2);
    call.op_properties = 0;  // does not commute, and a ring does not keep the order of ranks
    EXPECT_EQ(colltopo_allreduce(comm, &call), COLLTOPO_DECLINED);
    EXPECT_EQ(checked_allreduce(3, rank, comm, 5), COLLTOPO_SUCCESS);
  });
  EXPECT_THAT(all.said, testing::ElementsAre(HasSubstr("does not keep the order of ranks")));

  const std::string wrong = testing::TempDir() + "c_api_wrong.sched";
  {
    Schedule schedule = generate(*algorithm_named("ring"), {Collective::allreduce, 2, 1, 0}, {});
    ProgramBuilder lazy(schedule.shape, 1);  // sends and receives nothing that it should
    lazy.copy({{Buffer::input, 0, 2}}, {{Buffer::output, 0, 2}});
    schedule.programs[1] = std::move(lazy).build();
    std::ofstream out(wrong);
    write_schedule(out, schedule);
  }
  Ranks pair(2);
  pair.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "allreduce_algorithm", ("file:" + wrong).c_str());
    EXPECT_EQ(checked_allreduce(2, rank, comm, 4), COLLTOPO_DECLINED);
  });
  EXPECT_THAT(pair.said, testing::ElementsAre(HasSubstr("rank 0 op 2: waits for ever for a message from 1")));
}

TEST(CApi, a_file_with_a_root_serves_calls_with_that_root) {
  const std::string path = testing::TempDir() + "c_api_root.sched";
  {
    std::ofstream out(path);
    write_schedule(out, generate(*algorithm_named("binomial"), {Collective::bcast, 3, 1, 1}, {}));
  }
  Ranks all(3);
  all.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "bcast_algorithm", ("file:" + path).c_str());
    for (const int root : {1, 2}) {
      std::vector<std::int64_t> buffer = rank == root ? input_of(root, 9) : std::vector<std::int64_t>(9, -1);
      colltopo_call call = call_of(nullptr, buffer.data(), 9);
      call.root = root;
      EXPECT_EQ(colltopo_bcast(comm, &call), root == 1 ? COLLTOPO_SUCCESS : COLLTOPO_DECLINED);
      if (root == 1) {
        EXPECT_EQ(buffer, input_of(root, 9));
      }
    }
  });
  EXPECT_THAT(all.said, testing::ElementsAre(HasSubstr("has root 1, the call 2")));
}

TEST(CApi, rules_choose_by_ranks_and_bytes_and_leave_the_rest_to_the_model) {
  const std::string path = written("c_api_rules.json", R"({
    "rule_file_version": 3, "module": "topo",
    "collectives": {"allreduce": [
      {"comm_size_max": 3, "rules": [{"alg": "fallback"}]},
      {"comm_size_min": 4, "comm_size_max": 8, "comm_rank_distribution": "single-node", "rules": [
        {"msg_size_max": 64, "alg": "recursive-doubling"},
        {"msg_size_min": 65, "msg_size_max": "inf", "alg": "ring", "seg_size": 128}]}]}})");
  Ranks four(4);
  four.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "rules", path.c_str());
    colltopo_comm_set(comm, "verbose", "1");
    EXPECT_EQ(checked_allreduce(4, rank, comm, 8), COLLTOPO_SUCCESS);
    EXPECT_EQ(checked_allreduce(4, rank, comm, 100), COLLTOPO_SUCCESS);
  });
  EXPECT_THAT(four.said,
              testing::ElementsAre(HasSubstr("recursive-doubling (" + path + ": collectives.allreduce[1].rules[0]"),
                                   HasSubstr("ring (" + path + ": collectives.allreduce[1].rules[1]"),
                                   HasSubstr("allreduce of 800 bytes: 2 segments")));
  Ranks three(3);
  three.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "rules", path.c_str());
    EXPECT_EQ(checked_allreduce(3, rank, comm, 8), COLLTOPO_DECLINED);
  });
  Ranks forced(3);
  forced.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "rules", path.c_str());
    colltopo_comm_set(comm, "allreduce_algorithm", "ring");
    EXPECT_EQ(checked_allreduce(3, rank, comm, 8), COLLTOPO_SUCCESS);  // a parameter goes before a rule
  });
}

TEST(CApi, wrong_rules_are_refused_by_all_ranks_with_the_place) {
  const std::string path =
      written("c_api_bad_rules.json", R"({"collectives": {"alltoall": [{"rules": [{"alg": "swing"}]}]}})");
  Ranks all(3);
  all.run([&](int rank, colltopo_comm* comm) {
    EXPECT_EQ(colltopo_comm_set(comm, "rules", path.c_str()), COLLTOPO_SUCCESS);
    EXPECT_EQ(checked_alltoall(3, rank, comm, 1), COLLTOPO_DECLINED);
    EXPECT_EQ(checked_allreduce(3, rank, comm, 1), COLLTOPO_DECLINED);
  });
  EXPECT_THAT(
      all.said,
      testing::ElementsAre(HasSubstr(path + ": collectives.alltoall[0].rules[0].alg is 'swing'; must be one of auto")));
}

TEST(CApi, segments_and_steps_give_the_same_values) {
  for (const char* pace : {"free", "steps"}) {
    Ranks all(4);
    all.run([&](int rank, colltopo_comm* comm) {
      colltopo_comm_set(comm, "allreduce_algorithm", "ring");
      colltopo_comm_set(comm, "alltoall_algorithm", "tra:radix=2");
      colltopo_comm_set(comm, "segment_bytes", "64");
      colltopo_comm_set(comm, "pace", pace);
      for (const std::size_t count : {1u, 13u, 1000u, 999u}) {
        EXPECT_EQ(checked_allreduce(4, rank, comm, count), COLLTOPO_SUCCESS);
        EXPECT_EQ(checked_alltoall(4, rank, comm, count), COLLTOPO_SUCCESS);
      }
    });
  }
}

TEST(CApi, verbose_names_the_algorithm_its_source_and_reason) {
  Ranks all(2);
  all.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "verbose", "1");
    colltopo_comm_set(comm, "allreduce_algorithm", "ring");
    for (int i = 0; i < 3; ++i) checked_allreduce(2, rank, comm, 4);
  });
  EXPECT_THAT(all.said,
              testing::ElementsAre(HasSubstr("1: allreduce of 32 bytes on 2 ranks, 1 nodes: ring (parameter")));
}

TEST(CApi, more_chunks_than_elements_are_said_once) {
  const Schedule exchange = schedule_of("exchange", {Collective::alltoall, 2, 4, 0}, [](Rank rank) {
    ProgramBuilder program({Collective::alltoall, 2, 4, 0}, rank);
    program.copy({{Buffer::input, 4 * rank, 4}}, {{Buffer::output, 4 * rank, 4}});
    const Rank peer = 1 - rank;
    program.step(1);
    for (const Chunk first : {0, 3}) program.send({{Buffer::input, 4 * peer + first, first == 0 ? 3 : 1}}, peer);
    for (const Chunk first : {0, 3}) program.recv({{Buffer::output, 4 * peer + first, first == 0 ? 3 : 1}}, peer);
    return std::move(program).build();
  });
  std::ostringstream out;
  write_schedule(out, exchange);
  const std::string path = written("c_api_chunks.sched", out.str());
  Ranks pair(2);
  pair.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "verbose", "1");
    colltopo_comm_set(comm, "alltoall_algorithm", ("file:" + path).c_str());
    for (const int count : {8, 3, 8, 2}) EXPECT_EQ(checked_alltoall(2, rank, comm, count), COLLTOPO_SUCCESS);
  });
  const auto says = [](const std::string& line) { return line.find("4 chunks per shard") != std::string::npos; };
  EXPECT_EQ(std::count_if(pair.said.begin(), pair.said.end(), says), 1);
  EXPECT_THAT(pair.said, testing::Contains(HasSubstr("which has 3 elements: at least 1 chunks are empty")));
}

}  // namespace
}  // namespace colltopo
