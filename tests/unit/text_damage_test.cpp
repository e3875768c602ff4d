// A schedule file with any one line deleted, doubled or altered is rejected with the number of that line.

#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>

#include "text_files.h"

namespace colltopo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Three files: with routes and empty programs, rooted with reductions, parametric.
std::vector<std::string> files() {
  RandomPrograms random(21);
  Schedule routed = random.schedule({Collective::alltoall, 4, 2, 0}, 4);
  routed.programs[1] = ProgramBuilder(routed.shape, 1).build();
  routed.programs[2] = ProgramBuilder(routed.shape, 2).build();
  routed.routes = {{0, 1, 0, 0, {1, 2}}, {1, 0, 3, 1, {}}};
  routed.topology = "kautz:4:2 00c0ffee";
  routed.bound = "all-to-all 0.25";
  const std::string parametric =
      sealed("topo-schedule 1\nname tra\ncollective alltoall\nranks 6\nchunks 1\nsteps 3\ngenerate tra radix=2\n");
  return {text_of(routed), text_of(random.schedule({Collective::reduce, 3, 2, 1}, 6)), parametric};
}

std::string at_line(std::size_t line) { return "FILE:" + std::to_string(line) + ": "; }

// Reading a part of a file reads the whole of it only when lines are out of place; then the same line must be named.
void expect_no_part_is_read(const std::string& damaged, Rank ranks, std::size_t line) {
  EXPECT_THAT(fault_of([&] { header_from(damaged); }), StartsWith(at_line(line)));
  for (Rank rank = 0; rank < ranks; ++rank) {
    EXPECT_THAT(fault_of([&] { program_from(damaged, rank); }), StartsWith(at_line(line)));
  }
}

TEST(TextDamage, files_to_be_damaged_are_whole) {
  for (const std::string& file : files()) EXPECT_EQ(fault_in(file), "");
}

TEST(TextDamage, a_deleted_line_is_named) {
  for (const std::string& file : files()) {
    const std::vector<std::string> lines = lines_of(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::vector<std::string> damaged = lines;
      damaged.erase(damaged.begin() + static_cast<std::ptrdiff_t>(i));
      EXPECT_THAT(fault_in(joined(damaged)), StartsWith(at_line(i + 1))) << lines[i];
      expect_no_part_is_read(joined(damaged), header_from(file).shape.ranks, i + 1);
    }
  }
}

TEST(TextDamage, a_doubled_line_is_named) {
  for (const std::string& file : files()) {
    const std::vector<std::string> lines = lines_of(file);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      std::vector<std::string> damaged = lines;
      damaged.insert(damaged.begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
      EXPECT_THAT(fault_in(joined(damaged)), StartsWith(at_line(i + 2))) << lines[i];
      expect_no_part_is_read(joined(damaged), header_from(file).shape.ranks, i + 2);
    }
  }
}

TEST(TextDamage, lines_that_changed_places_are_named) {
  for (const std::string& file : files()) {
    const std::vector<std::string> lines = lines_of(file);
    for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
      std::vector<std::string> damaged = lines;
      std::swap(damaged[i], damaged[i + 1]);
      EXPECT_THAT(fault_in(joined(damaged)), StartsWith(at_line(i + 1))) << lines[i];
    }
  }
}

TEST(TextDamage, an_altered_character_of_any_kind_is_named) {
  for (const std::string& file : files()) {
    const std::vector<std::string> lines = lines_of(file);
    std::size_t begin = 0;
    for (std::size_t i = 0; i < lines.size(); begin += lines[i].size() + 1, ++i) {
      for (std::size_t at = begin; at < begin + lines[i].size(); ++at) {
        for (const char other : {'0', '7', 'a', 'z', 'F', ' ', '+', '~', '\n', '\r', '\t', '\0', '\x7f', '\xff'}) {
          if (file[at] == other) continue;
          std::string damaged = file;
          damaged[at] = other;
          ASSERT_THAT(fault_in(damaged), StartsWith(at_line(i + 1))) << lines[i] << " at " << at - begin;
        }
        std::string shorter = file, longer = file;
        shorter.erase(at, 1);
        longer.insert(at, 1, '1');
        ASSERT_THAT(fault_in(shorter), StartsWith(at_line(i + 1))) << lines[i] << " at " << at - begin;
        ASSERT_THAT(fault_in(longer), StartsWith(at_line(i + 1))) << lines[i] << " at " << at - begin;
      }
      std::string no_newline = file;
      no_newline.erase(begin + lines[i].size(), 1);
      EXPECT_THAT(fault_in(no_newline), StartsWith(at_line(i + 1))) << lines[i];
    }
  }
}

TEST(TextDamage, an_altered_line_is_named_by_whoever_reads_it) {
  const std::string file = files().front();
  const std::vector<std::string> lines = lines_of(file);
  Rank section = -1;  // -1: header, then ranks, then routes, index and last line
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::string> damaged = lines;
    char& character = damaged[i][damaged[i].find(' ') + 1];
    character = character == '5' ? '6' : '5';
    if (lines[i].starts_with("index "))
      section = -1;
    else if (lines[i].starts_with("section ") && lines[i].find("ops") != std::string::npos)
      ++section;
    else if (lines[i].starts_with("routes ") && lines[i].find("bytes") == std::string::npos)
      section = 4;
    for (Rank rank = 0; rank < 4; ++rank) {
      const std::string fault = fault_of([&] { program_from(joined(damaged), rank); });
      if (section == -1 || section == rank) {
        EXPECT_THAT(fault, StartsWith(at_line(i + 1))) << lines[i];
      } else {
        EXPECT_EQ(fault, "") << "rank " << rank << " does not read " << lines[i];
      }
    }
  }
}

TEST(TextDamage, a_truncated_file_is_named_where_it_ends) {
  for (const std::string& file : files()) {
    std::size_t line = 1;
    for (std::size_t length = 0; length < file.size(); ++length) {
      const std::string damaged = file.substr(0, length);
      ASSERT_THAT(fault_in(damaged), StartsWith(at_line(line))) << length;
      ASSERT_THAT(fault_of([&] { program_from(damaged, 0); }), StartsWith(at_line(line))) << length;
      if (file[length] == '\n') ++line;
    }
  }
}

TEST(TextDamage, text_behind_the_last_line_is_named) {
  for (const std::string& file : files()) {
    const std::size_t lines = lines_of(file).size();
    for (const std::string more : {"\n", "x", " ", "topo-schedule 1\n"}) {
      EXPECT_THAT(fault_in(file + more), StartsWith(at_line(lines + 1)));
    }
    EXPECT_THAT(fault_in(file + file), AllOf(StartsWith(at_line(lines + 1)), HasSubstr("nothing after the last line")));
    EXPECT_THAT(fault_of([&] { header_from(file + "x\n"); }), StartsWith(at_line(lines + 1)));
  }
}

TEST(TextDamage, other_files_are_not_schedules) {
  EXPECT_THAT(fault_in(""), StartsWith("FILE:1: the text ends here"));
  EXPECT_THAT(fault_in("<algo name=\"x\">\n"), StartsWith("FILE:1: '<algo name=\"x\">', expected \"topo-schedule 1\""));
  EXPECT_THAT(fault_in(with_seals_alone({"topo-schedule 2"})), StartsWith("FILE:1: 'topo-schedule 2', expected"));
  EXPECT_THAT(fault_of([] { header_from("x"); }), StartsWith("FILE:1: "));
}

TEST(TextDamage, flipped_bytes_never_do_worse_than_an_error) {
  std::mt19937 random(99);
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  for (const std::string& file : files()) {
    for (int trial = 0; trial < 3000; ++trial) {
      std::string damaged = file;
      for (std::size_t flips = 1 + below(4); flips > 0; --flips) {
        damaged[below(damaged.size())] = static_cast<char>(below(256));
      }
      EXPECT_EQ(fault_in(damaged).empty(), damaged == file);
      fault_of([&] { program_from(damaged, 0); });
      fault_of([&] { header_from(damaged); });
    }
  }
}

// Seals made anew bring damage to the parsers behind them.
TEST(TextDamage, flipped_bytes_under_right_seals_never_do_worse_than_an_error) {
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  constexpr std::string_view k_characters = "0123456789 +:>~=,x-\nsrcioe";
  std::size_t rejected = 0;
  for (const std::string& file : files()) {
    for (int trial = 0; trial < 3000; ++trial) {
      std::string damaged = joined(contents_of(file));
      for (std::size_t flips = 1 + below(2); flips > 0; --flips) {
        damaged[below(damaged.size())] = k_characters[below(k_characters.size())];
      }
      for (const std::string& text : {sealed(damaged), with_seals_alone(lines_of(damaged))}) {
        const std::string fault = fault_of([&] { schedule_from(text); });
        fault_of([&] { program_from(text, 1); });
        if (fault.empty()) continue;
        ++rejected;
        ASSERT_THAT(fault, StartsWith("FILE:"));
      }
    }
  }
  EXPECT_GT(rejected, 1000U);
}

struct Fault {
  std::string line, instead, says;
};

// Replaces a line, seals as they must be, and expects the fault at that line.
void expect_fault(const std::vector<std::string>& contents, const Fault& fault) {
  SCOPED_TRACE(fault.line + " -> " + fault.instead);
  std::vector<std::string> damaged = contents;
  const auto place = std::find(damaged.begin(), damaged.end(), fault.line);
  ASSERT_NE(place, damaged.end());
  *place = fault.instead;
  const auto line = static_cast<std::size_t>(place - damaged.begin()) + 1;
  EXPECT_THAT(fault_in(with_seals_alone(damaged)), AllOf(StartsWith(at_line(line)), HasSubstr(fault.says)));
}

std::vector<std::string> small_file() {
  return contents_of(
      sealed("topo-schedule 1\nname small\ncollective alltoall\nranks 3\nchunks 1\nsteps 0\nsections 0\n"
             "section 0\ncopy step 0 input:0+1 > output:0+1\nsend 1 step 2 lane 1 input:1+2\n"
             "section 1\nrecv 0 step 2 lane 1 scratch:0+2\nsection 2\nroutes 0\n"
             "route 0 > 1 lane 1 layer 0 links 3 4\nroute 1 > 2 lane 0 layer 0 links\n"));
}

TEST(TextDamage, sealed_lines_with_wrong_words_are_named) {
  const std::vector<std::string> contents = small_file();
  ASSERT_EQ(fault_in(with_seals_alone(contents)), "");
  const std::string send = "send 1 step 2 lane 1 input:1+2", copy = "copy step 0 input:0+1 > output:0+1";
  const std::string recv = "recv 0 step 2 lane 1 scratch:0+2", route = "route 0 > 1 lane 1 layer 0 links 3 4";
  const std::vector<Fault> faults = {
      {"name small", "nam small", "expected \"name\""},
      {"name small", "name a\x01", "control characters"},
      {"collective alltoall", "collective alltoal", "expected alltoall, allgather"},
      {"collective alltoall", "collective alltoall x", "expected nothing"},
      {"ranks 3", "ranks 0", "'0', expected a number in 1..4194304"},
      {"ranks 3", "ranks 03", "'03', expected a number"},
      {"ranks 3", "ranks -3", "'-3', expected a number"},
      {"ranks 3", "ranks +3", "'+3', expected a number"},
      {"ranks 3", "ranks 4294967299", "expected a number"},
      {"ranks 3", "ranks 99999999999999999999999", "expected a number"},
      {"ranks 3", "ranks", "the line ends, expected ranks"},
      {"ranks 3", "ranks  3", "'', expected a number"},
      {"chunks 1", "chunks 357913942", "expected a number in 1..1048576"},
      {"steps 2", "steps 3", "steps 3, expected 2, the largest step"},
      {"sections 4", "sections 5", "'5', expected a number in 3..4"},
      {"sections 4", "sections 2", "'2', expected a number in 3..4"},
      {"sections 4", "sektions 4", "expected topology, bound, proof, sections, orbits or generate"},
      {"section 1 ops 1 scratch 2", "section 0 ops 1 scratch 2", "section of rank 0, expected the section of rank 1"},
      {"section 1 ops 1 scratch 2", "section 2 ops 1 scratch 2", "section of rank 2, expected the section of rank 1"},
      {"section 1 ops 1 scratch 2", "section 1 ops 1 scratch 1", "scratch 1, expected the 2 slots"},
      {"section 1 ops 1 scratch 2", "section 1 ops x scratch 2", "ops is 'x', expected a number"},
      {send, "send 3 step 2 lane 1 input:1+2", "peer 3 is not in 0..2"},
      {send, "send 0 step 2 lane 1 input:1+2", "the peer is the rank itself"},
      {send, "sent 1 step 2 lane 1 input:1+2", "expected send, recv, copy or reduce"},
      {send, "send 1 step 3 lane 1 input:1+2", "step is '3', expected a number in 0..2"},
      {send, "send 1 step -1 lane 1 input:1+2", "expected a number in 0..2"},
      {send, "send 1 stop 2 lane 1 input:1+2", "'stop', expected \"step\""},
      {send, "send 1 step 2 lane x input:1+2", "lane is 'x'"},
      {send, "send 1 step 2 lane 1", "the line ends, expected a run"},
      {send, "send 1 step 2 lane 1 input:1+0", "the run's count is '0'"},
      {send, "send 1 step 2 lane 1 input:1+3", "outside the buffer's 3 chunks"},
      {send, "send 1 step 2 lane 1 inputs:1+2", "expected a run of input, output or scratch"},
      {send, "send 1 step 2 lane 1 input:1", "expected input:FIRST+COUNT"},
      {send, "send 1 step 2 lane 1 input", "expected input:FIRST+COUNT"},
      {send, "send 1 step 2 lane 1 input:+", "expected a number"},
      {send, "send 1 step 2 lane 1 input:1+2 >", "expected nothing"},
      {send, "send 1 step 2 lane 1 input:1+2 > output:0+1", "expected nothing"},
      {send, "send 1 step 2 lane 1 input:1+2 ", "expected a run of input"},
      {send, "send 1 step 2 lane 1 scratch:0+67108864 scratch:0+1", "67108865 chunks in one op"},
      {copy, "copy step 0 input:0+1 > output:0+2", "1 chunks are read and 2 written"},
      {copy, "copy step 0 input:0+1 output:0+1", "the line ends, expected >"},
      {copy, "copy step 0 input:0+1 > output:0+1 >", "expected nothing"},
      {copy, "copy step 0 > output:0+1", "expected a run of input"},
      {copy, "copy step 0 output:0+1 > input:0+1", "writes to input"},
      {copy, "reduce step 0 input:0+1 > output:0+1", "alltoall has no reduction"},
      {copy, "", "the line ends, expected an op"},
      {recv, "recv 0 step 2 lane 1 input:0+2", "writes to input"},
      {"routes 2", "routes 0", "routes is '0', expected a number in 1.."},
      {route, "route 0 > 3 lane 1 layer 0 links 3 4", "expected two ranks of 0..2"},
      {"route 1 > 2 lane 0 layer 0 links", "route 0 > 1 lane 1 layer 0 links", "expected increasing order"},
      {route, "route 0 > 1 lane 1 layer 0 links 3 x", "link is 'x'"},
      {route, "route 0 > 1 lane 1 links 3 4", "'links', expected \"layer\""},
      {"index 4", "index 3", "expected a number in 4..4"},
  };
  for (const Fault& fault : faults) expect_fault(contents, fault);
}

TEST(TextDamage, an_index_that_misplaces_is_named) {
  const std::vector<std::string> contents = small_file();
  const Schedule whole = schedule_from(with_seals_alone(contents));
  for (std::size_t i = contents.size() - 5; i < contents.size(); ++i) {
    for (std::size_t at = 0; at < contents[i].size(); ++at) {
      if (std::isdigit(static_cast<unsigned char>(contents[i][at])) == 0) continue;
      std::vector<std::string> damaged = contents;
      damaged[i][at] = damaged[i][at] == '9' ? '8' : static_cast<char>(damaged[i][at] + 1);
      const std::string text = with_seals_alone(damaged);
      EXPECT_THAT(fault_in(text), StartsWith(at_line(i + 1))) << damaged[i];
      // A rank does not read the other sections, so it need not see that; but it never gets a wrong program.
      fault_of([&] { EXPECT_TRUE(program_from(text, 1) == whole.programs[1]) << damaged[i]; });
    }
  }
}

TEST(TextDamage, a_generate_line_that_cannot_be_followed_is_named) {
  const std::string generate = "generate tra radix=2";
  const std::vector<std::string> contents = contents_of(
      sealed("topo-schedule 1\nname tra\ncollective alltoall\nranks 6\nchunks 1\nsteps 3\n" + generate + "\n"));
  const std::vector<Fault> faults = {
      {generate, "generate", "the line ends, expected an algorithm"},
      {generate, "generate trah", "algorithm 'trah' is not known, expected one of tra, tra2"},
      {generate, "generate tra radix=1", "radix 1"},
      {generate, "generate tra radix=", "radix is '', expected a number"},
      {generate, "generate tra radix", "radix is '', expected a number"},
      {generate, "generate tra radix=2 radix=2", "stands twice"},
      {generate, "generate tra rodix=2", "option 'rodix=2', expected radix="},
      {generate, "generate tra multiport=2", "multiport is '2', expected a number in 0..1"},
      {generate, "generate tra2 group-of=0,0,1", "group-of lists 3 ranks, expected 6"},
      {generate, "generate tra2 group-of=0,0,,1,1,1", "group-of is '', expected a number"},
      {generate, "generate tra dimensions=2x0", "dimensions is '0', expected a number in 1.."},
      {"steps 3", "steps 4", "steps 4, expected 3, the largest step"},
  };
  for (const Fault& fault : faults) expect_fault(contents, fault);
  std::vector<std::string> other = contents;
  other[2] = "collective allgather";
  EXPECT_THAT(fault_in(with_seals_alone(other)), AllOf(StartsWith("FILE:7: "), HasSubstr("tra does not do allgather")));
  other = contents;
  other[4] = "chunks 2";
  EXPECT_THAT(fault_in(with_seals_alone(other)), AllOf(StartsWith("FILE:7: "), HasSubstr("chunks 2, expected the 1")));
}

}  // namespace
}  // namespace colltopo
