// MSCCL's XML: algorithms built as other tools build them are read, proved and run; what is written has the form that
// the runtimes take.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>

#include "colltopo/algorithms.h"
#include "colltopo/cost.h"
#include "colltopo/error.h"
#include "colltopo/formats.h"
#include "formats/msccl_blocks.h"
#include "schedules.h"

namespace colltopo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

const std::filesystem::path k_samples = std::filesystem::path(COLLTOPO_SAMPLES) / "msccl";

std::string contents(const std::string& name) {
  std::ifstream in(k_samples / name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

Schedule sample(const std::string& name) { return read_msccl_xml(contents(name), name); }

Chunk scratch_of(const Schedule& schedule) {
  Chunk most = 0;
  for (const Program& program : schedule.programs) most = std::max(most, program.scratch());
  return most;
}

std::string written(std::string_view algorithm, const Shape& shape, const MscclOptions& options = {}) {
  return msccl_xml(generate(*algorithm_named(algorithm), shape, {}), options);
}

TEST(MscclSamples, are_all_proved_and_move_the_right_values) {
  int samples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(k_samples)) {
    if (entry.path().extension() != ".xml") continue;
    const Schedule schedule = sample(entry.path().filename());
    EXPECT_THAT(schedule, Verifies()) << entry.path();
    EXPECT_TRUE(runs_right_every_way(schedule)) << entry.path();
    ++samples;
  }
  EXPECT_EQ(samples, 13);
}

TEST(MscclSamples, have_the_messages_of_their_algorithms) {
  EXPECT_EQ(messages_of(sample("allgather-ring-2-channels.xml")).size(), 4U * 3 * 2);
  EXPECT_EQ(messages_of(sample("allreduce-ring.xml")).size(), 4U * 6);
  EXPECT_EQ(sample("allreduce-ring.xml").steps(), 6);
  EXPECT_EQ(messages_of(sample("allreduce-trees.xml")).size(), 4U * 2 * 3);
  EXPECT_EQ(messages_of(sample("allreduce-binomial.xml")).size(), 6U);
  EXPECT_EQ(sample("broadcast-chain.xml").shape, (Shape{Collective::bcast, 3, 3, 1}));
  EXPECT_EQ(sample("reduce-chain.xml").shape, (Shape{Collective::reduce, 3, 3, 1}));
}

TEST(MscclSamples, of_two_levels_send_one_message_of_all_chunks_between_nodes) {
  for (const Message& message : messages_of(sample("alltoall-two-step-3x3.xml")))
    EXPECT_EQ(message.chunks, message.source / 3 == message.target / 3 ? 1 : 3);
}

TEST(MscclReading, cuts_a_vector_finer_when_its_chunks_are_not_a_multiple_of_the_ranks) {
  const Schedule schedule = sample("allreduce-binomial.xml");  // one chunk for four ranks
  EXPECT_EQ(schedule.shape, (Shape{Collective::allreduce, 4, 1, 0}));
  for (const Message& message : messages_of(schedule)) EXPECT_EQ(message.chunks, 4);
}

TEST(MscclReading, receives_a_message_ahead_when_channels_cross) {
  const Schedule schedule = sample("allgather-crossing.xml");
  EXPECT_EQ(scratch_of(schedule), 1);
  std::vector<Buffer> received;
  for (std::size_t i = 0; i < schedule.programs[1].size(); ++i) {
    const Op op = schedule.programs[1].op(i);
    if (op.action == Action::recv) received.push_back(op.target[0].buffer);
  }
  EXPECT_THAT(received, testing::ElementsAre(Buffer::scratch, Buffer::output));
}

TEST(MscclReading, needs_no_buffering_of_what_is_exchanged_in_place) {
  EXPECT_TRUE(msccl::needs_buffers(msccl::parsed(contents("alltoall-exchange-in-place.xml"), "")));
  const Schedule schedule = sample("alltoall-exchange-in-place.xml");
  EXPECT_THAT(schedule, Verifies());
  EXPECT_GT(scratch_of(schedule), 0);
}

TEST(MscclReading, takes_both_spellings_of_what_has_two) {
  std::string text = contents("alltoall-two-step.xml");
  const Schedule schedule = read_msccl_xml(text, "");
  for (std::size_t at = text.find("\"cpy\""); at != std::string::npos; at = text.find("\"cpy\""))
    text.replace(at, 5, "\"cp\"");
  EXPECT_EQ(read_msccl_xml(text, ""), schedule);
  const Shape shape{Collective::reduce_scatter, 4, 1, 0};
  EXPECT_EQ(read_msccl_xml(written("ring", shape, {.rccl = true}), ""), read_msccl_xml(written("ring", shape), ""));
}

struct Fault {
  const char *file, *message;
};

TEST(MscclReading, says_where_and_what_is_wrong) {
  const Fault faults[] = {
      {"cut.xml", "cut.xml:45: Start-end tags mismatch; expected an XML document <algo>"},
      {"custom.xml", "custom.xml:1: coll='custom': what must come out of it is not known"},
      {"gpu-missing.xml", "gpu-missing.xml:1: no <gpu id=\"4\">; expected one for each of 0..4"},
      {"type.xml", "type.xml:7: type='swap'; expected s, r, cpy"},
      {"offset.xml", "offset.xml:4: chunks 4..4 of i, of which this gpu has 4"},
      {"peer.xml", "peer.xml:5: type='rrs' in a thread block with send=1 and recv=-1; expected a peer"},
      {"itself.xml", "itself.xml:3: send=0: gpu 0 itself"},
      {"count.xml", "receives 0 chunks from gpu 2 on channel 1, which sends 1 (line "},
      {"unsent.xml", "gpu 0 sends 5 messages to gpu 1 on channel 0, which receives 6"},
      {"awaited.xml", "deps=9 of thread block 0, which has 2 steps"},
      {"circle.xml", "circle.xml:4: step 0 of a thread block of gpu 0 waits for what waits for it"},
      {"unwritten.xml", "unwritten.xml:8: gpu 0 reads a chunk that nothing has been written to"},
      {"other-chunk.xml", "adds chunk 2 of the vector to chunk 1"},
  };
  for (const Fault& fault : faults) {
    const std::string text = contents(std::string("broken/") + fault.file);
    EXPECT_THAT([&] { read_msccl_xml(text, fault.file); },
                ThrowsMessage<Error>(AllOf(HasSubstr(fault.message), Not(HasSubstr("\n")))));
  }
}

TEST(MscclReading, leaves_a_wrong_result_to_the_proof) {
  const Schedule schedule = sample("broken/wrong-result.xml");
  EXPECT_THAT(schedule, Not(Verifies()));
}

TEST(MscclReading, refuses_sizes_that_nobody_means) {
  const auto with = [](const std::string& from, const std::string& to) {
    std::string text = contents("allreduce-ring.xml");
    text.replace(text.find(from), from.size(), to);
    return [text] { read_msccl_xml(text, "a.xml"); };
  };
  EXPECT_THAT(with("nchunksperloop=\"4\"", "nchunksperloop=\"99999999999\""),
              ThrowsMessage<Error>(HasSubstr("a.xml:1: nchunksperloop='99999999999'")));
  EXPECT_THAT(with("nchunksperloop=\"4\"", "nchunksperloop=\"4194303\""),
              ThrowsMessage<Error>(HasSubstr("16777212 chunks are needed")));
  EXPECT_THAT(with("s_chunks=\"0\"", "s_chunks=\"4194304\""),
              ThrowsMessage<Error>(HasSubstr("a.xml:2: 4194312 chunks on all gpus so far; expected at most 4194304")));
  EXPECT_NO_THROW(with("s_chunks=\"0\"", "s_chunks=\"1048576\"")());
  EXPECT_THAT(
      [] {
        std::string text = contents("allreduce-binomial.xml");  // of one chunk, cut in four
        text.replace(text.find("s_chunks=\"0\""), 12, "s_chunks=\"1999999\"");
        read_msccl_xml(text, "a.xml");
      },
      ThrowsMessage<Error>(HasSubstr("s_chunks 1999999, each of which is cut in 4")));
  EXPECT_THAT(with("s_chunks=\"0\"", "s_chunks=\"-1\""), ThrowsMessage<Error>(HasSubstr("a.xml:2: s_chunks='-1'")));
  EXPECT_THAT(with("ngpus=\"4\"", "ngpus=\"0\""), ThrowsMessage<Error>(HasSubstr("a.xml:1: ngpus='0'")));
}

TEST(MscclWriting, states_one_dependency_per_step_and_the_others_on_nops_before_it) {
  const msccl::Algorithm algorithm = msccl::parsed(written("tra", {Collective::alltoall, 16, 1, 0}), "");
  int nops = 0;
  for (const msccl::Gpu& gpu : algorithm.gpus) {
    for (const msccl::ThreadBlock& block : gpu.blocks) {
      for (std::size_t i = 0; i < block.steps.size(); ++i) {
        if (block.steps[i].type != msccl::StepType::nop) continue;
        ++nops;
        // The runtimes want the last dependency of a chain on the step that waits for all.
        ASSERT_LT(i + 1, block.steps.size());
        EXPECT_GE(block.steps[i].awaited_block, 0);
        EXPECT_GE(block.steps[i + 1].awaited_block, 0);
      }
    }
  }
  EXPECT_GT(nops, 0);
}

TEST(MscclWriting, makes_one_step_of_a_receive_and_its_reduction) {
  const std::string text = written("ring", {Collective::reduce_scatter, 8, 1, 0});
  EXPECT_THAT(text, HasSubstr("type=\"rrc\""));
  EXPECT_THAT(text, Not(HasSubstr("type=\"re\"")));
  EXPECT_THAT(text, Not(HasSubstr("type=\"r\"")));
}

TEST(MscclWriting, says_what_calls_the_algorithm_is_for) {
  const Shape shape{Collective::allgather, 4, 1, 0};
  EXPECT_THAT(written("ring", shape), HasSubstr("proto=\"Simple\""));
  EXPECT_THAT(written("ring", shape),
              HasSubstr("inplace=\"1\" outofplace=\"1\" minBytes=\"0\" maxBytes=\"1099511627776\""));
  const std::string text = written(
      "ring", shape, {.protocol = "LL", .in_place = true, .out_of_place = false, .min_bytes = 8, .max_bytes = 4096});
  EXPECT_THAT(text, HasSubstr("proto=\"LL\""));
  EXPECT_THAT(text, HasSubstr("inplace=\"1\" outofplace=\"0\" minBytes=\"8\" maxBytes=\"4096\""));
  EXPECT_THAT(read_msccl_xml(text, ""), Verifies());
  // A rotation-free exchange overwrites what it has not sent yet.
  EXPECT_THAT(written("tra", {Collective::alltoall, 9, 1, 0}), HasSubstr("inplace=\"0\" outofplace=\"1\""));
}

TEST(MscclWriting, cuts_messages_into_what_is_contiguous_at_both_ends_and_short_enough) {
  const Shape shape{Collective::allgather, 2, 150, 0};
  Schedule schedule{"pieces", shape, {}, {}, "", ""};
  for (Rank rank = 0; rank < 2; ++rank) {
    ProgramBuilder program(shape, rank);
    program.copy({{Buffer::input, 0, 150}}, {{Buffer::output, rank * 150, 150}});
    program.step(1);
    program.send({{Buffer::input, 100, 50}, {Buffer::input, 0, 100}}, 1 - rank);
    program.recv({{Buffer::output, (1 - rank) * 150 + 100, 50}, {Buffer::output, (1 - rank) * 150, 100}}, 1 - rank);
    schedule.programs.push_back(std::move(program).build());
  }
  MscclSize size;
  const Schedule again = read_msccl_xml(msccl_xml(schedule, {}, &size), "");
  EXPECT_THAT(again, Verifies());
  std::vector<Chunk> counts;
  for (const Message& message : messages_of(again))
    if (message.source == 0) counts.push_back(message.chunks);
  EXPECT_THAT(counts, testing::ElementsAre(50, 71, 29));
  EXPECT_EQ(size.thread_blocks, 3U);
  EXPECT_EQ(size.steps, 3U);
  EXPECT_EQ(size.channels, 1U);
}

// Rank 0 overwrites what it sends to rank 1 before it makes what, through rank 2, lets rank 1 receive it. The two local
// ops touch different chunks, so no schedule lets one wait for the other; steps of one thread block would.
Schedule detour() {
  const Shape shape{Collective::alltoall, 3, 1, 0};
  const auto input = [](Chunk i) { return Runs{{Buffer::input, i, 1}}; };
  const auto output = [](Chunk i) { return Runs{{Buffer::output, i, 1}}; };
  const auto slot = [](Chunk i) { return Runs{{Buffer::scratch, i, 1}}; };
  Schedule schedule{"detour", shape, {}, {}, "", ""};
  ProgramBuilder zero(shape, 0);
  zero.copy(input(0), output(0)).copy(input(1), slot(0));
  zero.step(1).send(slot(0), 1).copy(input(2), slot(0)).copy(input(1), slot(1)).send(slot(1), 2);
  zero.step(2).send(slot(0), 2).recv(output(1), 1).recv(output(2), 2);
  schedule.programs.push_back(std::move(zero).build());
  ProgramBuilder one(shape, 1);
  one.copy(input(1), output(1));
  one.step(2).recv(slot(0), 2).copy(slot(0), slot(1));
  one.step(1).recv(slot(0), 0).copy(slot(0), output(0));
  one.step(2).send(input(0), 0).send(input(2), 2).recv(output(2), 2);
  schedule.programs.push_back(std::move(one).build());
  ProgramBuilder two(shape, 2);
  two.copy(input(2), output(2));
  two.step(1).recv(slot(0), 0);
  two.step(2).send(slot(0), 1).recv(output(0), 0).send(input(0), 0).send(input(1), 1).recv(output(1), 1);
  schedule.programs.push_back(std::move(two).build());
  return schedule;
}

TEST(MscclWriting, makes_no_step_wait_for_a_send_that_waits_for_it) {
  const Schedule schedule = detour();
  ASSERT_THAT(schedule, Verifies());
  EXPECT_TRUE(msccl::needs_buffers(in_blocks(schedule, msccl::Grouping::few_blocks, false)));
  EXPECT_FALSE(msccl::needs_buffers(in_blocks(schedule, msccl::Grouping::apart, false)));
  const std::string text = msccl_xml(schedule);
  EXPECT_FALSE(msccl::needs_buffers(msccl::parsed(text, "")));
  EXPECT_THAT(read_msccl_xml(text, ""), Verifies());
}

TEST(MscclWriting, keeps_names_that_the_runtimes_parsers_can_read) {
  Schedule schedule = generate(*algorithm_named("ring"), {Collective::allgather, 2, 1, 0}, {});
  schedule.name = "a \"b\" <c> & d" + std::string(300, 'x');
  const std::string text = msccl_xml(schedule);
  EXPECT_EQ(text.find("<algo name=\"a _b_ _c_ _ d"), 0U);
  EXPECT_LT(text.find(" proto="), 255U);
  EXPECT_THAT(text, Not(HasSubstr("<?xml")));
}

TEST(MscclWriting, refuses_what_is_not_its_collective) {
  Schedule schedule = generate(*algorithm_named("ring"), {Collective::allgather, 3, 1, 0}, {});
  schedule.shape.collective = Collective::alltoall;
  EXPECT_THAT([&] { msccl_xml(schedule); },
              ThrowsMessage<Error>(HasSubstr("ring is not valid and cannot be written: ")));
}

std::size_t count_of(const std::string& text, std::string_view word) {
  std::size_t count = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

TEST(OnecclWriting, synchronises_only_before_what_waits_for_a_message) {
  // All messages at once: nothing waits but the end.
  const std::string direct = oneccl_xml(generate(*algorithm_named("linear"), {Collective::alltoall, 4, 1, 0}, {}));
  EXPECT_EQ(count_of(direct, "<send "), 12U);
  EXPECT_EQ(count_of(direct, "<recv "), 12U);
  EXPECT_EQ(count_of(direct, "<copy "), 4U);
  EXPECT_EQ(count_of(direct, "<sync/>"), 4U);
  // A ring forwards in every step what came in the one before.
  const std::string ring = oneccl_xml(generate(*algorithm_named("ring"), {Collective::allgather, 4, 1, 0}, {}));
  EXPECT_EQ(count_of(ring, "<sync/>"), 4U * 3);
  const std::string sums = oneccl_xml(generate(*algorithm_named("ring"), {Collective::reduce_scatter, 4, 1, 0}, {}));
  EXPECT_EQ(count_of(sums, "<reduce "), 4U * 3);
  EXPECT_EQ(sums.find("<algo name=\"ring\" coll=\"reduce_scatter\" nranks=\"4\" nchunks=\"4\" nchannels=\"1\">\n"), 0U);
  const std::string spread = oneccl_xml(generate(*algorithm_named("binomial"), {Collective::bcast, 4, 1, 2}, {}));
  EXPECT_THAT(spread, HasSubstr(" root=\"2\">"));
}

TEST(AnySchedule, is_read_by_what_the_file_says_or_by_the_format_asked_for) {
  const std::string text = contents("allreduce-ring.xml");
  EXPECT_EQ(read_any_schedule(text, "a"), read_msccl_xml(text, "a"));
  EXPECT_EQ(read_any_schedule("<!-- from a tool -->\n" + text, "a"), read_msccl_xml(text, "a"));
  EXPECT_THAT([&] { read_any_schedule(text, "a", "text"); }, ThrowsMessage<Error>(HasSubstr("a:1: ")));
  EXPECT_THAT([&] { read_any_schedule("topo-schedule 1", "a", "msccl-xml"); },
              ThrowsMessage<Error>(HasSubstr("a:1: ")));
  EXPECT_THAT([&] { read_any_schedule(text, "a", "gif"); }, ThrowsMessage<Error>(HasSubstr("format 'gif' is unknown")));
}

}  // namespace
}  // namespace colltopo
