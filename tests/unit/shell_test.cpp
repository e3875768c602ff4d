// What the component and the shim share: which datatypes a reduction serves, packed moves, elements with gaps, and
// memory that messages given up may still arrive in. The shells' own functions are stood in for by a few lines.

#include <gmock/gmock.h>

#include <cstring>
#include <vector>

extern "C" {
#include "shell.h"
}

namespace {

using testing::Each;
using testing::ElementsAre;

constexpr std::ptrdiff_t k_int = sizeof(int);

shell_layout ints_apart(std::ptrdiff_t ints) { return {sizeof(int), 0, ints * k_int, 0, k_int, false}; }

TEST(Shell, elements_half_of_which_is_data_are_reduced_whole_and_sparser_ones_are_not) {
  EXPECT_TRUE(shell_can_reduce(std::vector{ints_apart(1)}.data()));
  EXPECT_TRUE(shell_can_reduce(std::vector{ints_apart(2)}.data()));
  EXPECT_FALSE(shell_can_reduce(std::vector{ints_apart(3)}.data()));
  EXPECT_FALSE(shell_can_reduce(std::vector{ints_apart(-1)}.data()));
  const shell_layout beyond{8, 0, 8, 4, 8, false};
  EXPECT_FALSE(shell_can_reduce(&beyond));
  EXPECT_TRUE(shell_is_dense(std::vector{ints_apart(1)}.data()));
  EXPECT_FALSE(shell_is_dense(std::vector{ints_apart(2)}.data()));
}

TEST(Shell, memory_that_may_still_be_written_is_not_lent_again) {
  shell_memory memory{};
  void* const first = shell_lend(&memory, 100);
  shell_take_back(&memory, false);
  EXPECT_EQ(shell_lend(&memory, 50), first);
  const std::size_t before = shell_bytes_set_aside();
  shell_take_back(&memory, true);
  EXPECT_EQ(shell_bytes_set_aside() - before, 100);
  void* const next = shell_lend(&memory, 50);
  EXPECT_NE(next, first);
  std::memset(first, 1, 100);  // as a late message does
  shell_take_back(&memory, false);
  shell_free(&memory);
}

TEST(Shell, memory_for_nothing_is_there) {
  shell_memory memory{};
  EXPECT_NE(shell_lend(&memory, 0), nullptr);
  EXPECT_NE(shell_lend(&memory, 1), nullptr);
  EXPECT_EQ(memory.size, 1);
  shell_free(&memory);
}

TEST(Shell, large_memory_is_given_back_after_a_call) {
  shell_memory memory{};
  shell_lend(&memory, std::size_t{2} << 20);
  shell_take_back(&memory, false);
  EXPECT_EQ(memory.size, 0);
}

// A shell of one process: every second int is data, and a call is as `run` says.
struct Shell {
  shell_memory memory{};
  bool abandoned = false;
  std::vector<int> seen;
  int packed_blocks = 0;
  int result = COLLTOPO_SUCCESS;
  ~Shell() { shell_free(&memory); }

  static int run(void* owner, int, const colltopo_call* call) {
    auto& shell = *static_cast<Shell*>(owner);
    const auto* const data = static_cast<const int*>(call->in_place != 0 ? call->output : call->input);
    const std::size_t ints = call->count * call->element_size / sizeof(int);
    shell.seen.assign(data, data + ints);
    shell.abandoned = shell.result != COLLTOPO_SUCCESS;
    return shell.result;
  }
  static int convert(const void* side, std::size_t first, std::size_t blocks, char* packed, bool packing) {
    int* const ints = static_cast<int*>(const_cast<void*>(side));
    for (std::size_t i = 0; i < blocks; ++i) {
      int* const unpacked = ints + 2 * (first + i);
      if (packing)
        std::memcpy(packed + i * sizeof(int), unpacked, sizeof(int));
      else
        std::memcpy(unpacked, packed + i * sizeof(int), sizeof(int));
    }
    return COLLTOPO_SUCCESS;
  }
  static int pack(void* owner, const void* side, std::size_t first, std::size_t blocks, char* packed) {
    static_cast<Shell*>(owner)->packed_blocks += static_cast<int>(blocks);
    return convert(side, first, blocks, packed, true);
  }
  static int unpack(void*, const void* side, std::size_t first, std::size_t blocks, char* packed) {
    return convert(side, first, blocks, packed, false);
  }
  static int copy(void*, const void*, const char* from, char* to, std::size_t elements) {
    for (std::size_t i = 0; i < elements; ++i)
      std::memcpy(to + 2 * i * sizeof(int), from + 2 * i * sizeof(int), sizeof(int));
    return COLLTOPO_SUCCESS;
  }
  shell_side side() { return {this, &memory, &abandoned, 99, run}; }
};

TEST(Shell, an_allgather_in_place_packs_its_own_block_alone_and_leaves_gaps) {
  Shell shell;
  const shell_side side = shell.side();
  std::vector<int> all{1, -1, 2, -1, 3, -1};
  shell_move move{};
  move.collective = COLLTOPO_ALLGATHER;
  move.input_is_dense = true;
  move.block_bytes = sizeof(int);
  move.output_blocks = 3;
  move.first_held = 1;
  move.blocks_held = 1;
  move.output_changes = true;
  move.output = all.data();
  move.pack = Shell::pack;
  move.unpack = Shell::unpack;
  colltopo_call call{};
  call.in_place = 1;
  call.count = 3;
  call.element_size = sizeof(int);
  EXPECT_EQ(shell_move_packed(&side, &move, &call), COLLTOPO_SUCCESS);
  EXPECT_EQ(shell.packed_blocks, 1);
  EXPECT_EQ(shell.seen.at(1), 2);
  EXPECT_EQ(all[1], -1);
  EXPECT_EQ(all[5], -1);
}

shell_reduction every_second(const int* input, int* output, std::size_t elements) {
  shell_reduction reduction{};
  reduction.collective = COLLTOPO_ALLREDUCE;
  reduction.layout = ints_apart(2);
  reduction.receives = true;
  reduction.input = input;
  reduction.output = output;
  reduction.input_count = reduction.output_count = elements;
  reduction.copy = Shell::copy;
  return reduction;
}

TEST(Shell, gaps_of_a_reduction_go_out_as_zeros_and_those_of_the_user_stay) {
  Shell shell;
  const shell_side side = shell.side();
  std::memset(shell_lend(&shell.memory, 64), 0xA5, 64);  // an earlier call's
  const std::vector<int> in{1, 77, 2, 77};
  std::vector<int> out(4, -1);
  const shell_reduction reduction = every_second(in.data(), out.data(), 2);
  colltopo_call call{};
  call.count = 2;
  shell_reduction_begins(&reduction, &call);
  EXPECT_EQ(call.element_size, 2 * sizeof(int));
  EXPECT_EQ(shell_reduction_with_gaps(&side, &reduction, &call), COLLTOPO_SUCCESS);
  EXPECT_THAT(shell.seen, ElementsAre(1, 0, 2, 0));
  EXPECT_THAT(out, ElementsAre(1, -1, 2, -1));
}

TEST(Shell, an_address_of_null_is_mpi_bottom_and_not_nothing) {
  int value = 5;
  shell_reduction reduction = every_second(nullptr, nullptr, 1);
  reduction.layout = {sizeof(int), reinterpret_cast<std::ptrdiff_t>(&value),
                      k_int,       reinterpret_cast<std::ptrdiff_t>(&value),
                      k_int,       false};
  colltopo_call call{};
  shell_reduction_begins(&reduction, &call);
  EXPECT_EQ(call.output, &value);
  EXPECT_EQ(call.input, &value);
  reduction.receives = false;
  shell_reduction_begins(&reduction, &call);
  EXPECT_EQ(call.output, nullptr);
}

TEST(Shell, a_failed_call_leaves_the_users_output_and_keeps_what_may_be_written) {
  Shell shell;
  shell.result = 15;
  const shell_side side = shell.side();
  const std::vector<int> in{1, 77, 2, 77};
  std::vector<int> out(4, -1);
  const shell_reduction reduction = every_second(in.data(), out.data(), 2);
  colltopo_call call{};
  call.count = 2;
  shell_reduction_begins(&reduction, &call);
  const std::size_t before = shell_bytes_set_aside();
  EXPECT_EQ(shell_reduction_with_gaps(&side, &reduction, &call), 15);
  EXPECT_THAT(out, Each(-1));
  EXPECT_EQ(shell_bytes_set_aside() - before, 4 * sizeof(int));
}

}  // namespace
