// Building programs: what the builder accepts, joins and refuses.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "colltopo/error.h"
#include "colltopo/program.h"

namespace colltopo {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const Shape k_alltoall{Collective::alltoall, 4, 2, 0};
const Shape k_allreduce{Collective::allreduce, 4, 2, 0};

TEST(Program, adjacent_runs_are_joined_and_empty_ones_dropped) {
  ProgramBuilder builder(k_alltoall, 1);
  builder.send({{Buffer::input, 2, 1}, {Buffer::input, 3, 1}, {Buffer::scratch, 0, 0}, {Buffer::input, 5, 1}}, 0);
  const Program program = std::move(builder).build();
  ASSERT_EQ(program.size(), 1u);
  EXPECT_THAT(program.op(0).source,
              testing::ElementsAre(colltopo::Run{Buffer::input, 2, 2}, colltopo::Run{Buffer::input, 5, 1}));
}

TEST(Program, ops_of_no_chunks_are_left_out) {
  ProgramBuilder builder(k_alltoall, 1);
  builder.send({}, 0).recv({{Buffer::output, 0, 0}}, 0).copy({}, {});
  EXPECT_EQ(std::move(builder).build().size(), 0u);
}

TEST(Program, scratch_is_as_large_as_its_last_slot) {
  ProgramBuilder builder(k_alltoall, 1);
  builder.recv({{Buffer::scratch, 6, 2}}, 0);
  EXPECT_EQ(std::move(builder).build().scratch(), 8);
}

TEST(Program, faults_name_the_rank_and_the_op) {
  ProgramBuilder builder(k_alltoall, 1);
  builder.send({{Buffer::input, 0, 1}}, 0);
  EXPECT_THAT(
      [&] {
        builder.send({{Buffer::input, 7, 2}}, 0);
      },
      ThrowsMessage<Error>("rank 1 op 1 (send): run input:7+2 is outside the buffer's 8 chunks"));
  EXPECT_THAT(
      [&] {
        builder.send({{Buffer::input, 0, 1}}, 4);
      },
      ThrowsMessage<Error>(HasSubstr("peer 4 is not in 0..3")));
  EXPECT_THAT([&] { builder.send({{Buffer::input, 0, 1}}, 1); }, ThrowsMessage<Error>(HasSubstr("the rank itself")));
  EXPECT_THAT([&] { builder.send({{Buffer::input, 0, 1}}, 0, -1); }, ThrowsMessage<Error>(HasSubstr("lane -1")));
  EXPECT_THAT([&] { builder.recv({{Buffer::input, 0, 1}}, 0); }, ThrowsMessage<Error>(HasSubstr("writes to input")));
  EXPECT_THAT(
      [&] {
        builder.copy({{Buffer::input, 0, 2}}, {{Buffer::output, 0, 1}});
      },
      ThrowsMessage<Error>(HasSubstr("2 chunks are read and 1 written")));
  EXPECT_THAT(
      [&] {
        builder.reduce({{Buffer::input, 0, 1}}, {{Buffer::output, 0, 1}});
      },
      ThrowsMessage<Error>(HasSubstr("alltoall has no reduction")));
  EXPECT_THAT([&] { builder.step(-1); }, ThrowsMessage<Error>(HasSubstr("step -1")));
}

TEST(Program, values_stay_in_places_of_their_size_class) {
  ProgramBuilder alltoall(k_alltoall, 0);
  EXPECT_THAT(
      [&] {
        alltoall.copy({{Buffer::input, 0, 1}}, {{Buffer::scratch, 1, 1}});
      },
      ThrowsMessage<Error>(HasSubstr("another size class")));
  alltoall.copy({{Buffer::input, 0, 1}}, {{Buffer::scratch, 4, 1}});  // chunk 0 of a shard, as input:0
  ProgramBuilder allreduce(k_allreduce, 0);
  EXPECT_THAT(
      [&] {
        allreduce.reduce({{Buffer::input, 0, 2}}, {{Buffer::output, 2, 2}});
      },
      ThrowsMessage<Error>(HasSubstr("another size class")));
  allreduce.reduce({{Buffer::scratch, 8, 2}}, {{Buffer::output, 0, 2}});
}

TEST(Program, an_op_reads_or_writes_a_chunk_once) {
  const auto refused = [](const std::function<void(ProgramBuilder&)>& add) {
    ProgramBuilder builder({Collective::allgather, 4, 1, 0}, 0);
    try {
      add(builder);
    } catch (const Error& error) {
      return std::string(error.what()).find("every chunk may take part once") != std::string::npos;
    }
    return false;
  };
  const colltopo::Run first{Buffer::output, 0, 1}, second{Buffer::output, 1, 1};
  EXPECT_TRUE(refused([&](ProgramBuilder& b) { b.copy({first, second}, {second, first}); }));
  EXPECT_TRUE(refused([&](ProgramBuilder& b) { b.copy({{Buffer::output, 0, 2}}, {{Buffer::output, 1, 2}}); }));
  EXPECT_TRUE(refused([&](ProgramBuilder& b) { b.recv({second, first, second}, 1); }));
  EXPECT_FALSE(refused([&](ProgramBuilder& b) { b.send({second, first, second}, 1); }));
  EXPECT_FALSE(refused([&](ProgramBuilder& b) { b.copy({first}, {second}); }));
  EXPECT_FALSE(refused([&](ProgramBuilder& b) { b.copy({{Buffer::scratch, 1, 1}}, {second}); }));
}

TEST(Program, the_root_of_a_bcast_has_nothing_to_write) {
  ProgramBuilder builder({Collective::bcast, 4, 1, 2}, 2);
  EXPECT_THROW(builder.recv({{Buffer::output, 0, 1}}, 0), Error);
}

TEST(Program, shapes_that_cannot_be_are_refused) {
  EXPECT_THROW(ProgramBuilder(Shape{Collective::alltoall, 0, 1, 0}, 0), Error);
  EXPECT_THROW(ProgramBuilder(Shape{Collective::alltoall, 2, 0, 0}, 0), Error);
  EXPECT_THROW(ProgramBuilder(Shape{Collective::alltoall, 2, 1, 1}, 0), Error);
  EXPECT_THROW(ProgramBuilder(Shape{Collective::bcast, 2, 1, 2}, 0), Error);
  EXPECT_THROW(ProgramBuilder(Shape{Collective::bcast, 2, 1, 1}, 2), Error);
}

}  // namespace
}  // namespace colltopo
