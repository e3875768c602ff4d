// Ranks that do not have colltopo, or another one: whoever has it learns that in the first agreement, sends them
// nothing and waits for none of them, and one rank says so.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "colltopo/error.h"
#include "comm/agreement.h"
#include "ranks.h"
#include "silent.h"
#include "transport/callbacks.h"

namespace colltopo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// What each rank that has colltopo makes of the meeting; none of the others.
std::vector<std::optional<Agreement::Result>> meet(Ranks& all, const std::vector<int>& kind_of) {
  all.kind_of = kind_of;
  const auto ranks = static_cast<Rank>(kind_of.size());
  std::vector<std::optional<Agreement::Result>> results(kind_of.size());
  std::vector<std::jthread> threads;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const auto place = static_cast<std::size_t>(rank);
    if (kind_of[place] < 0) continue;
    threads.emplace_back([&, rank, place] {
      const colltopo_callbacks callbacks = all.callbacks_of(rank);
      CallbackTransport messages(callbacks);
      const Agreement agreement(rank, ranks, messages);
      Findings findings;
      findings.same("different things", 7);
      findings.smallest(rank);
      results[place] = agreement.meet(findings, callbacks);
    });
  }
  threads.clear();
  return results;
}

void expect_all_know(const std::vector<int>& kind_of) {
  SCOPED_TRACE(testing::PrintToString(kind_of));
  Ranks all(static_cast<int>(kind_of.size()));
  const auto results = meet(all, kind_of);
  const auto speaker = std::ranges::find_if(kind_of, [](int kind) { return kind >= 0; }) - kind_of.begin();
  for (std::size_t rank = 0; rank < kind_of.size(); ++rank) {
    if (kind_of[rank] < 0) continue;
    const Agreement::Result& result = *results[rank];
    ASSERT_FALSE(result.good) << "rank " << rank;
    ASSERT_TRUE(result.missing) << "rank " << rank;
    EXPECT_NE(kind_of[static_cast<std::size_t>(*result.missing)], kind_of[rank]) << "rank " << rank;
    EXPECT_EQ(!result.fault.empty(), static_cast<std::ptrdiff_t>(rank) == speaker) << "rank " << rank;
  }
  EXPECT_EQ(all.astray(), 0);
}

TEST(MissingRanks, are_known_to_all_others_whoever_is_missing) {
  for (std::size_t ranks = 2; ranks <= 10; ++ranks)
    for (unsigned missing = 1; missing + 1 < (1U << ranks); ++missing) {
      std::vector<int> kind_of(ranks);
      for (std::size_t rank = 0; rank < ranks; ++rank) kind_of[rank] = (missing >> rank & 1) != 0 ? -1 : 0;
      expect_all_know(kind_of);
    }
}

TEST(MissingRanks, are_known_to_all_others_of_many) {
  std::mt19937 random(62);
  for (const std::size_t ranks : {8U, 11U, 12U, 16U, 23U, 32U, 48U})
    for (const unsigned one_in : {2U, 3U, 8U, 1000U}) {
      std::vector<int> kind_of(ranks);
      for (int& kind : kind_of) kind = random() % one_in == 0 ? -1 : 0;
      kind_of[random() % ranks] = 0;
      if (std::ranges::find(kind_of, -1) == kind_of.end()) kind_of[random() % ranks] = -1;
      if (std::ranges::find(kind_of, 0) == kind_of.end()) continue;
      expect_all_know(kind_of);
    }
}

TEST(MissingRanks, may_have_something_else_instead) {
  std::mt19937 random(63);
  for (const std::size_t ranks : {2U, 3U, 4U, 5U, 6U, 8U, 13U, 24U})
    for (int round = 0; round < 8; ++round) {
      std::vector<int> kind_of(ranks);
      for (int& kind : kind_of) kind = static_cast<int>(random() % 4) - 1;
      kind_of[random() % ranks] = 1;
      if (std::ranges::count(kind_of, 1) == static_cast<std::ptrdiff_t>(ranks)) kind_of[0] = 2;
      expect_all_know(kind_of);
    }
}

TEST(MissingRanks, are_none_where_all_are_alike) {
  for (const int ranks : {2, 3, 4, 7, 8, 12}) {
    Ranks all(ranks);
    for (const auto& result : meet(all, std::vector<int>(static_cast<std::size_t>(ranks)))) {
      EXPECT_TRUE(result->good);
      EXPECT_THAT(result->smallest, ElementsAre(0));
    }
  }
}

TEST(MissingRanks, make_all_others_decline_for_ever) {
  for (const std::vector<int>& kind_of : {std::vector<int>{-1, 0, 0, 0, 0}, {0, 0, -1, 0, 0}, {0, 1, 0, 1, 0}}) {
    Ranks all(5);
    all.kind_of = kind_of;
    all.run([&](int rank, colltopo_comm* comm) {
      if (kind_of[static_cast<std::size_t>(rank)] < 0) return;
      const std::vector<int> input(5);
      std::vector<int> output(25);
      colltopo_comm_set(comm, "allgather_algorithm", "ring");
      colltopo_call call{};
      call.input = input.data();
      call.output = output.data();
      call.count = 5;
      call.element_size = sizeof(int);
      long long least = 1;
      EXPECT_EQ(colltopo_allgather(comm, &call), COLLTOPO_DECLINED);
      EXPECT_EQ(colltopo_leave(comm, COLLTOPO_ALLGATHER, 0), COLLTOPO_DECLINED);
      EXPECT_EQ(colltopo_least(comm, &least), COLLTOPO_DECLINED);
      EXPECT_EQ(colltopo_allgather(comm, &call), COLLTOPO_DECLINED);
    });
    EXPECT_EQ(all.astray(), 0);
    EXPECT_THAT(all.said, ElementsAre(HasSubstr("does not have colltopo; all ranks must have the same; using")));
  }
}

// Lengths that differ, which one rank sees and the others do not.
TEST(FirstCall, is_left_by_all_if_one_rank_leaves_it) {
  for (const int odd : {0, 2, 4}) {
    Ranks all(5);
    all.run([&](int rank, colltopo_comm* comm) {
      const std::vector<int> input(5, rank);
      std::vector<int> output(25, -1);
      colltopo_comm_set(comm, "allgather_algorithm", "ring");
      colltopo_call call{};
      call.input = input.data();
      call.output = output.data();
      call.count = 5;
      call.element_size = sizeof(int);
      EXPECT_EQ(rank == odd ? colltopo_leave(comm, COLLTOPO_ALLGATHER, 0) : colltopo_allgather(comm, &call),
                rank == odd ? COLLTOPO_SUCCESS : COLLTOPO_DECLINED);
      // Nobody may remember that.
      EXPECT_EQ(*colltopo_left(comm), rank == odd ? 0U : 1U << COLLTOPO_ALLGATHER);
      colltopo_previous_done(comm, COLLTOPO_ALLGATHER);
      EXPECT_EQ(*colltopo_left(comm), 0U);
      EXPECT_EQ(colltopo_allgather(comm, &call), COLLTOPO_SUCCESS);
      EXPECT_EQ(output.back(), 4);
    });
  }
}

TEST(Agreement, has_a_tag_that_no_data_has) {
  Ranks all(4);
  all.run([](int, colltopo_comm* comm) {
    EXPECT_EQ(colltopo_leave(comm, COLLTOPO_ALLGATHER, 0), COLLTOPO_SUCCESS);
    EXPECT_EQ(colltopo_leave(comm, COLLTOPO_ALLGATHER, 0), COLLTOPO_SUCCESS);
  });
  EXPECT_TRUE(all.has_sent(COLLTOPO_AGREEMENT));
  for (int collective = 0; collective < COLLTOPO_COLLECTIVES; ++collective) EXPECT_FALSE(all.has_sent(collective));
}

// A rank that left its call to others, or went on with numbers of its own, would do what the others do not.
TEST(Agreement, is_an_error_of_the_call_where_a_message_fails) {
  Silent silent;
  const Agreement agreement(1, 3, silent);
  const auto expect_error = [](const auto& together) {
    try {
      together();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_STREQ(error.what(), "rank 1 cannot agree with the others: a message failed");
    }
  };
  Findings findings;
  findings.smallest(3);
  colltopo_callbacks callbacks{};
  callbacks.peer = [](void*, int, colltopo_peer*) { return 77; };
  std::vector<long long> numbers(3);
  std::vector<int> list(3);
  std::vector<std::byte> blocks(3);
  std::string fault;
  expect_error([&] { agreement.agree(findings); });
  expect_error([&] { agreement.meet(findings, callbacks); });
  expect_error([&] { agreement.all_good(&fault); });
  expect_error([&] { agreement.least(3LL); });
  expect_error([&] { agreement.add_up(numbers); });
  expect_error([&] { agreement.exchange(numbers); });
  expect_error([&] { agreement.gather(std::span(blocks).first(1), blocks); });
  expect_error([&] { agreement.gather_lists(list, 10); });
  expect_error([&] { agreement.wait_at_root(0); });
  expect_error([&] { agreement.wait_for_root(0); });
  expect_error([&] { agreement.text_of_rank_0("text"); });
  expect_error([&] { agreement.text_of_rank_0("text", 4); });
  EXPECT_EQ(agreement.gather(list), 1);
  long long number = 3;
  EXPECT_EQ(agreement.least(&number), 1);
}

}  // namespace
}  // namespace colltopo
