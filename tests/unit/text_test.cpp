// The schedule file: what is written is read again, by the whole and by one rank's part.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "colltopo/verify.h"
#include "text_files.h"

namespace colltopo {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr Collective k_all[] = {Collective::alltoall,  Collective::allgather, Collective::reduce_scatter,
                                Collective::allreduce, Collective::bcast,     Collective::reduce};

void expect_round_trip(const Schedule& schedule) {
  const std::string text = text_of(schedule);
  EXPECT_TRUE(schedule_from(text) == schedule) << text;
  EXPECT_EQ(text_of(schedule_from(text)), text);
  EXPECT_EQ(sealed(text), text);
  for (Rank rank = 0; rank < schedule.shape.ranks; ++rank) {
    EXPECT_TRUE(program_from(text, rank) == schedule.programs[static_cast<std::size_t>(rank)]) << text;
  }
  const ScheduleHeader header = header_from(text);
  EXPECT_EQ(header.name, schedule.name);
  EXPECT_EQ(header.shape, schedule.shape);
  EXPECT_EQ(header.steps, schedule.steps());
  EXPECT_EQ(header.topology, schedule.topology);
  EXPECT_EQ(header.topology_name, schedule.topology_name);
  EXPECT_EQ(header.bound, schedule.bound);
  EXPECT_EQ(header.algorithm, "");
}

TEST(Text, random_schedules_of_every_collective_round_trip) {
  for (const Collective collective : k_all) {
    for (std::uint32_t seed = 1; seed <= 40; ++seed) {
      RandomPrograms random(seed);
      Shape shape{collective, 1 + random.below(6), 1 + random.below(4), 0};
      if (rooted(collective)) shape.root = random.below(shape.ranks);
      SCOPED_TRACE(::testing::Message() << name(collective) << " seed " << seed);
      expect_round_trip(random.schedule(shape, 12));
    }
  }
}

TEST(Text, schedules_of_the_algorithm_table_round_trip) {
  int schedules = 0;
  for (const Algorithm& algorithm : algorithms()) {
    for (const Collective collective : algorithm.collectives) {
      for (const Rank ranks : {1, 2, 3, 5, 8, 12}) {
        const Shape shape{collective, ranks, 1, 0};
        if (!algorithm.refusal(shape, {}).empty()) continue;
        SCOPED_TRACE(::testing::Message() << algorithm.name << " " << name(collective) << " ranks " << ranks);
        expect_round_trip(generate(algorithm, shape, {}));
        ++schedules;
      }
    }
  }
  EXPECT_GT(schedules, 6);
}

TEST(Text, a_file_looks_as_its_page_says) {
  const Shape shape{Collective::allgather, 2, 2, 0};
  const Schedule schedule = schedule_of("pair", shape, [&](Rank rank) {
    ProgramBuilder program(shape, rank);
    program.copy({{Buffer::input, 0, 2}}, {{Buffer::output, 2 * rank, 2}});
    program.step(1).send({{Buffer::input, 0, 2}}, 1 - rank, 1).recv({{Buffer::output, 2 - 2 * rank, 2}}, 1 - rank, 1);
    return std::move(program).build();
  });
  const std::vector<std::string> expected = {"topo-schedule 1",
                                             "name pair",
                                             "collective allgather",
                                             "ranks 2",
                                             "chunks 2",
                                             "steps 1",
                                             "sections 2",
                                             "section 0 ops 3 scratch 0",
                                             "copy step 0 input:0+2 > output:0+2",
                                             "send 1 step 1 lane 1 input:0+2",
                                             "recv 1 step 1 lane 1 output:2+2"};
  std::vector<std::string> contents = contents_of(text_of(schedule));
  contents.resize(expected.size());
  EXPECT_EQ(contents, expected);
}

// The blocks of docs/schedule.md that are whole files.
std::vector<std::string> files_of_the_page() {
  std::ifstream in(COLLTOPO_SOURCE_DIR "/docs/schedule.md");
  std::vector<std::string> files;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "```text") files.emplace_back();
    if (inside && !line.starts_with("```")) files.back() += line + '\n';
    inside = line == "```text" || (inside && line != "```");
  }
  return files;
}

TEST(Text, the_files_of_the_page_are_valid) {
  const std::vector<std::string> files = files_of_the_page();
  ASSERT_EQ(files.size(), 3U);
  for (const std::string& file : files) EXPECT_EQ(sealed(file), file);
  EXPECT_EQ(text_of(schedule_from(files[0])), files[0]);
  const Verdict verdict = verify(schedule_from(files[0]));
  EXPECT_TRUE(verdict.valid()) << to_string(verdict.violations.front());
  EXPECT_TRUE(verdict.stepped);
  EXPECT_EQ(schedule_from(files[1]).programs.size(), 1000U);
  std::istringstream symmetric(files[2]);
  std::ostringstream written;
  write_symmetric(written, read_symmetric(symmetric, "the page"));
  EXPECT_EQ(written.str(), files[2]);
}

TEST(Text, the_checksum_tells_files_apart) {
  RandomPrograms random(5);
  Schedule schedule = random.schedule({Collective::alltoall, 4, 1, 0}, 10);
  const std::string text = text_of(schedule);
  EXPECT_EQ(header_from(text).checksum, header_from(text).checksum);
  EXPECT_EQ(text::digits(header_from(text).checksum), text.substr(text.size() - 9, 8));
  schedule.programs[3] = random.program(schedule.shape, 3, 11);
  EXPECT_NE(header_from(text_of(schedule)).checksum, header_from(text).checksum);
}

// What says which form a file has, and a last line at most.
constexpr std::size_t k_ends = 32 + 256;

// Counts what is read of a text.
class CountedText : public std::stringbuf {
 public:
  explicit CountedText(const std::string& text) : std::stringbuf(text, std::ios::in) {}
  std::size_t bytes_read = 0;

 protected:
  std::streamsize xsgetn(char* to, std::streamsize count) override {
    bytes_read += static_cast<std::size_t>(count);
    return std::stringbuf::xsgetn(to, count);
  }
};

TEST(Text, a_rank_reads_header_index_and_its_own_section_alone) {
  RandomPrograms random(7);
  const Shape shape{Collective::alltoall, 50, 1, 0};
  const Schedule schedule = schedule_of("random", shape, [&](Rank rank) { return random.program(shape, rank, 200); });
  const std::string text = text_of(schedule);
  const std::size_t sections = text.find("\nsection 0 ") + 1, index = text.find("\nindex ") + 1;
  for (const Rank rank : {0, 17, 49}) {
    const std::size_t begin = text.find("\nsection " + std::to_string(rank) + " ") + 1;
    const std::size_t end = rank == 49 ? index : text.find("\nsection " + std::to_string(rank + 1) + " ") + 1;
    CountedText counted(text);
    std::istream in(&counted);
    EXPECT_TRUE(read_program(in, "FILE", rank) == schedule.programs[static_cast<std::size_t>(rank)]);
    EXPECT_LE(counted.bytes_read, sections + (end - begin) + (text.size() - index) + k_ends);
    EXPECT_LT(counted.bytes_read, text.size() / 10);
  }
  CountedText counted(text);
  std::istream in(&counted);
  EXPECT_EQ(read_header(in, "FILE").shape, shape);
  EXPECT_LE(counted.bytes_read, sections + (text.size() - index) + k_ends);
}

TEST(Text, a_proof_travels_with_the_schedule) {
  Schedule schedule = RandomPrograms(4).schedule({Collective::allreduce, 3, 2, 0}, 9);
  EXPECT_EQ(header_from(text_of(schedule)).proof, std::nullopt);
  schedule.proof = Proof{.in_place = true, .same_on_all_ranks = true, .independent = true};
  const std::string text = text_of(schedule);
  EXPECT_THAT(text, HasSubstr("\nproof in-place equal-bits independent ~"));
  EXPECT_TRUE(schedule_from(text) == schedule);
  EXPECT_EQ(header_from(text).proof, schedule.proof);
  schedule.proof = Proof{};
  EXPECT_EQ(header_from(text_of(schedule)).proof, Proof{});
  std::string wrong = text;
  wrong.replace(wrong.find("equal-bits"), 10, "equalities");
  EXPECT_THAT(fault_in(sealed(wrong)), HasSubstr("proof of 'equalities', expected in-place, rank-order"));
}

TEST(Text, a_file_that_is_open_stays_the_same_whatever_takes_its_name) {
  const std::string path = ::testing::TempDir() + "text_test_" + std::to_string(std::random_device()()) + ".sched";
  const Schedule first = RandomPrograms(3).schedule({Collective::allreduce, 3, 2, 0}, 9);
  const Schedule second = RandomPrograms(5).schedule({Collective::allreduce, 3, 2, 0}, 9);
  std::ofstream(path, std::ios::binary) << text_of(first);
  ScheduleFile file(path);
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary) << text_of(second);
  EXPECT_TRUE(file.program(1) == first.programs[1]);
  EXPECT_NE(file.header().checksum, read_header(path).checksum);
  // A damaged file is not read whole to find out where.
  std::ofstream(path, std::ios::binary | std::ios::trunc) << "not a schedule\n" << std::string(1000, 'x');
  EXPECT_THAT(fault_of([&] { ScheduleFile damaged(path); }), StartsWith(path));
  std::filesystem::remove(path);
}

TEST(Text, files_on_disk_are_read_like_streams) {
  const std::string path = ::testing::TempDir() + "text_test_" + std::to_string(std::random_device()()) + ".sched";
  const Schedule schedule = RandomPrograms(3).schedule({Collective::allreduce, 3, 2, 0}, 9);
  std::ofstream(path, std::ios::binary) << text_of(schedule);
  EXPECT_TRUE(read_schedule(path) == schedule);
  EXPECT_TRUE(read_program(path, 2) == schedule.programs[2]);
  EXPECT_EQ(read_header(path).shape, schedule.shape);
  EXPECT_THAT(fault_of([&] { read_program(path, 3); }), StartsWith(path + ": rank 3, expected one of"));
  EXPECT_THAT(fault_of([&] { read_program(path, -1); }), StartsWith(path + ": rank -1, expected one of"));
  std::filesystem::remove(path);
  EXPECT_THAT(fault_of([&] { read_schedule(path); }), HasSubstr("cannot be read: No such file"));
  EXPECT_THAT(fault_of([&] { read_header(path); }), HasSubstr("cannot be read"));
  EXPECT_THAT(fault_of([&] { read_program(::testing::TempDir(), 0); }), HasSubstr("is a directory"));
}

ScheduleHeader parametric(Collective collective, Rank ranks, const std::string& algorithm,
                          AlgorithmOptions options = {}) {
  ScheduleHeader header;
  header.name = algorithm;
  header.shape = {collective, ranks, 1, 0};
  header.algorithm = algorithm;
  header.options = std::move(options);
  const Algorithm* row = algorithm_named(algorithm);
  header.shape.chunks = row->chunks(header.shape, header.options);
  header.steps = generate(*row, header.shape, header.options).steps();
  return header;
}

std::string text_of(const ScheduleHeader& header) {
  std::ostringstream out;
  write_parametric(out, header);
  return out.str();
}

TEST(Text, a_parametric_file_makes_its_programs_when_they_are_read) {
  const AlgorithmOptions options{.values = {{"radix", 3}}};
  const ScheduleHeader header = parametric(Collective::alltoall, 10, "tra", options);
  const std::string text = text_of(header);
  EXPECT_THAT(text, HasSubstr("\ngenerate tra radix=3 ~"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("section ")));
  const Schedule whole = schedule_from(text);
  const Schedule made = generate(*algorithm_named("tra"), header.shape, options);
  EXPECT_EQ(whole.programs, made.programs);
  for (Rank rank = 0; rank < 10; ++rank) {
    EXPECT_TRUE(program_from(text, rank) == made.programs[static_cast<std::size_t>(rank)]);
  }
  EXPECT_EQ(header_from(text).algorithm, "tra");
  EXPECT_EQ(header_from(text).options.values.find("radix"), 3);
  EXPECT_EQ(sealed(text), text);
}

TEST(Text, every_option_of_a_generate_line_round_trips) {
  const AlgorithmOptions placed{.values = {{"intra-radix", 2}, {"inter-radix", 3}},
                                .groups = grouped({0, 1, 0, 1, 2, 2})};
  EXPECT_EQ(header_from(text_of(parametric(Collective::alltoall, 6, "tra2", placed))).options, placed);
  const AlgorithmOptions numbered{.values = {{"group", 4}}};
  EXPECT_EQ(header_from(text_of(parametric(Collective::alltoall, 6, "tra2", numbered))).options, numbered);
  const AlgorithmOptions torus{.values = {{"multiport", 0}}, .dimensions = {2, 3}};
  EXPECT_EQ(header_from(text_of(parametric(Collective::allgather, 6, "swing", torus))).options, torus);
}

TEST(Text, every_row_s_options_are_read_and_written_by_their_names) {
  for (const Algorithm& algorithm : algorithms()) {
    for (const Option& option : algorithm.options) {
      AlgorithmOptions options;
      options.values.set(option.name, option.least);
      const std::string text =
          text_of(parametric(algorithm.collectives.front(), 4, std::string(algorithm.name), options));
      EXPECT_THAT(text, HasSubstr(fmt::format(" {}={}", option.name, option.least))) << algorithm.name;
      EXPECT_EQ(header_from(text).options, options) << algorithm.name;
    }
  }
}

TEST(Text, a_file_written_by_hand_is_sealed) {
  const std::string by_hand =
      "topo-schedule 1\nname by hand\ncollective allgather\nranks 2\nchunks 1\nsteps 0\nsections 0\n\n"
      "section 0\ncopy step 0 input:0+1 > output:0+1\nsend 1 step 1 input:0+1\nrecv 1 step 1 scratch:3+1\n"
      "copy step 2 scratch:3+1 > output:1+1\n"
      "section 1\r\ncopy step 0 input:0+1 > output:1+1\nsend 0 step 1 input:0+1\nrecv 0 step 1 output:0+1";
  EXPECT_THAT(fault_in(by_hand), HasSubstr("must be sealed again"));
  const Schedule schedule = schedule_from(sealed(by_hand));
  EXPECT_EQ(schedule.steps(), 2);
  EXPECT_EQ(schedule.programs[0].scratch(), 4);
  EXPECT_EQ(schedule.programs[1].size(), 3U);

  const std::string parametric =
      "topo-schedule 1\nname\ncollective alltoall\nranks 4\nchunks 1\nsteps 2\ngenerate tra radix=2\n";
  EXPECT_EQ(schedule_from(sealed(parametric)).programs.size(), 4U);
}

TEST(Text, an_edited_file_is_sealed_again) {
  Schedule schedule = RandomPrograms(11).schedule({Collective::alltoall, 3, 1, 0}, 5);
  schedule.routes = {{0, 1, 0, 0, {4, 2}}};
  std::string text = text_of(schedule);
  const std::size_t section = text.find("\nsection 1 ") + 1;
  text.insert(text.find('\n', section) + 1, "send 2 step 99 input:0+1\n");
  text.insert(text.find("\nroute ") + 1, "route 0 > 1 lane 0 layer 1 links\n");
  text.replace(text.find("lane 0 layer 0"), 6, "lane 7");
  EXPECT_NE(fault_in(text), "");
  const Schedule edited = schedule_from(sealed(text));
  EXPECT_EQ(edited.steps(), 99);
  EXPECT_EQ(edited.programs[1].size(), schedule.programs[1].size() + 1);
  EXPECT_EQ(edited.routes.size(), 2U);
}

TEST(Text, what_could_not_be_read_back_is_not_written) {
  const Schedule good = RandomPrograms(2).schedule({Collective::alltoall, 3, 1, 0}, 5);
  const auto fault = [&](auto spoil) {
    Schedule schedule = good;
    spoil(schedule);
    std::ostringstream out;
    const std::string message = fault_of([&] { write_schedule(out, schedule); });
    EXPECT_EQ(out.str(), "");
    return message;
  };
  EXPECT_THAT(fault([](Schedule& s) { s.name = "two\nlines"; }), HasSubstr("expected one line"));
  EXPECT_THAT(fault([](Schedule& s) { s.bound = "a\tb"; }), HasSubstr("expected one line"));
  EXPECT_THAT(fault([](Schedule& s) { s.programs.pop_back(); }), HasSubstr("2 programs, expected 3"));
  EXPECT_THAT(fault([](Schedule& s) { std::swap(s.programs[0], s.programs[1]); }), HasSubstr("program 0 is of rank 1"));
  EXPECT_THAT(fault([](Schedule& s) { s.shape.chunks = 2; }), HasSubstr("another shape"));
  EXPECT_THAT(fault([](Schedule& s) {
                s.routes = {{0, 1, 0, 0, {}}, {0, 1, 0, 0, {}}};
              }),
              HasSubstr("increasing order"));
  EXPECT_THAT(fault([](Schedule& s) { s.routes = {{0, 0, 0, 0, {}}}; }), HasSubstr("expected two ranks"));

  ScheduleHeader header = parametric(Collective::alltoall, 4, "tra");
  header.shape.chunks = 2;
  EXPECT_THAT(fault_of([&] { text_of(header); }), HasSubstr("chunks 2, expected the 1"));
  header.algorithm = "trah";
  EXPECT_THAT(fault_of([&] { text_of(header); }), HasSubstr("'trah' is not known, expected one of tra, tra2"));
}

}  // namespace
}  // namespace colltopo
