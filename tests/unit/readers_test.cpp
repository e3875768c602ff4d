// What every reader has in common: which files it opens, how deep and how wide what it reads may be, and what its
// messages quote.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "base/lines.h"
#include "base/plain.h"
#include "base/read_file.h"
#include "colltopo/error.h"
#include "colltopo/text.h"
#include "colltopo/topology.h"
#include "comm/constants.h"
#include "comm/decisions.h"
#include "comm/machine_network.h"
#include "comm/rules.h"
#include "empty_folder.h"
#include "errors.h"
#include "tuning/tuning.h"
#include "within_bounds.h"

namespace colltopo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string deep_list(std::size_t depth) { return repeated("[", depth) + repeated("]", depth); }

// Every reader of a job by a file's name.
struct JobReader {
  const char* name;
  void (*read)(const std::string& path);
};
const JobReader k_job_readers[] = {
    {"topology", [](const std::string& path) { machine_network(path); }},
    {"hosts", [](const std::string& path) { listed_hosts(path); }},
    {"rules", [](const std::string& path) { Rules::read(path); }},
    {"constants", [](const std::string& path) { read_constants(path); }},
    {"decisions", [](const std::string& path) { DecisionFile::read(path); }},
    {"schedule", [](const std::string& path) { read_schedule(path); }},
    {"header", [](const std::string& path) { read_header(path); }},
    {"section", [](const std::string& path) { ScheduleFile(path).program(0); }},
};

TEST(Readers, of_a_job_refuse_what_is_no_regular_file_at_once) {
  const std::string folder = folder_named("readers_test");
  const std::string pipe = folder + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const JobReader& reader : k_job_readers)
    for (const std::string& path : {pipe, std::string("/dev/zero"), std::string("/dev/full"), folder}) {
      const std::string answer = within_bounds([&] { reader.read(path); }, {2, rlim_t{512} << 20});
      EXPECT_THAT(answer, AllOf(HasSubstr(path), HasSubstr("expected"))) << reader.name;
      EXPECT_THAT(answer, Not(HasSubstr("another exception"))) << reader.name;
    }
}

TEST(Readers, look_at_a_files_size_before_they_read_it) {
  const std::string folder = folder_named("readers_test");
  const std::string path = folder + "/large";
  std::ofstream(path) << "x";
  std::filesystem::resize_file(path, std::uint64_t{1} << 33);  // without blocks
  for (const JobReader& reader : k_job_readers) {
    if (std::string_view(reader.name) == "schedule" || std::string_view(reader.name) == "header" ||
        std::string_view(reader.name) == "section")
      continue;  // these read parts
    EXPECT_THAT(within_bounds([&] { reader.read(path); }, {2, rlim_t{512} << 20}), HasSubstr("it has more than"))
        << reader.name;
  }
}

// What its last line says is believed until it has been read.
TEST(Readers, of_schedules_take_no_part_that_no_schedule_has) {
  const std::string folder = folder_named("readers_test");
  const std::string path = folder + "/holes.sched";
  constexpr std::uint64_t k_holes = std::uint64_t{1} << 36;
  for (const std::string& parts : {std::to_string(k_holes) + " index " + std::to_string(k_holes) + "+1",
                                   "10 index 10+" + std::to_string(k_holes - 9)}) {
    std::ofstream(path) << "topo-sch";
    std::filesystem::resize_file(path, k_holes);
    std::ofstream(path, std::ios::app) << "\nend lines 1 header 0+" << parts << " ~00000000\n";
    for (const std::string& answer :
         {within_bounds([&] { read_header(path); }), within_bounds([&] { ScheduleFile(path).program(0); })})
      EXPECT_THAT(answer, AllOf(StartsWith(path), HasSubstr("expected")));
  }
}

TEST(ReadFile, gives_all_of_a_file_and_says_why_not) {
  const std::string folder = folder_named("readers_test");
  const std::string path = folder + "/file";
  std::string bytes(200'000, 'a');
  bytes[70'000] = '\0';
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(read_file(path, k_rules_file), bytes);
  EXPECT_EQ(read_file_or_pipe(path), bytes);
  EXPECT_THAT(error_from([&] {
                read_file(path, {"a short file", 1000});
              }),
              HasSubstr("/file: cannot be read: it has more than 1000 bytes, the most; expected a short file"));
  EXPECT_THAT(error_from([&] { read_file(path + "2", k_rules_file); }),
              HasSubstr("/file2: cannot be read: No such file or directory; expected a rules file"));
  EXPECT_EQ(read_file_if_there(path + "2", k_rules_file), std::nullopt);
}

TEST(ReadFile, limits_what_a_pipe_gives) {
  const std::string folder = folder_named("readers_test");
  const std::string path = folder + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const pid_t writer = fork();
  if (writer == 0) {
    std::ofstream(path) << "what was piped";
    _exit(0);
  }
  EXPECT_EQ(read_file_or_pipe(path), "what was piped");
  waitpid(writer, nullptr, 0);
  EXPECT_THAT(error_from([] { read_file_or_pipe("/dev/zero"); }), HasSubstr("it is a device"));
  EXPECT_EQ(read_file_or_pipe("/dev/null"), "");
}

TEST(FileStream, reads_parts_as_a_stream_of_the_library_does) {
  const std::string folder = folder_named("readers_test");
  const std::string path = folder + "/file";
  std::string bytes;
  for (int i = 0; i < 40'000; ++i) bytes += static_cast<char>(i * 7 + i / 256);
  std::ofstream(path, std::ios::binary) << bytes;
  FileStream in(path, k_schedule_file);
  in.seekg(0, std::ios::end);
  EXPECT_EQ(in.tellg(), 40'000);
  for (const std::size_t first : {0, 1, 8191, 8192, 30'000, 5, 39'990})
    for (const std::size_t count : {1, 10, 8192, 9000}) {
      std::string part(count, '\0');
      in.clear();
      in.seekg(static_cast<std::streamoff>(first));
      in.read(part.data(), static_cast<std::streamsize>(count));
      part.resize(static_cast<std::size_t>(in.gcount()));
      EXPECT_EQ(part, bytes.substr(first, count)) << first << " " << count;
    }
}

TEST(Json, is_refused_where_it_is_too_deep_too_wide_or_says_a_key_twice) {
  using Json = nlohmann::ordered_json;
  const auto fault = [](const std::string& text) {
    return error_from([&] { read_json<Json>(text, "FILE", "numbers"); });
  };
  EXPECT_EQ(read_json<Json>(deep_list(100), "FILE", "lists").dump(), deep_list(100));
  EXPECT_EQ(fault(deep_list(101)), "FILE:1: lists and objects are more than 100 deep; expected fewer");
  EXPECT_EQ(fault("{\"a\": 1,\n\"a\": 2}"), "FILE:2: key 'a' twice; expected it once");
  std::string wide = "{";
  for (int key = 0; key < 100'000; ++key) wide += "\"" + std::to_string(key) + "\": 0, ";
  EXPECT_EQ(within_bounds([&] { read_json<Json>(wide + "\"\": 0}", "FILE", "numbers"); }),
            "FILE:1: an object of more than 1000 keys; expected fewer");
  EXPECT_THAT(fault("[1,\n" + std::string(60'000, 'x') + "]"), HasSubstr("FILE:2: "));
  EXPECT_LT(fault("[\"" + std::string(60'000, 'x')).size(), 300u);
}

TEST(Json, has_whole_numbers_that_fit) {
  const std::string folder = folder_named("readers_test");
  const std::string path = folder + "/numbers.json";
  for (const char* const number : {"1e308", "1.5", "4294967296", "18446744073709551615", "[]"}) {
    std::ofstream(path) << R"({"colltopo_constants": [{"hosts": ["a"], "ranks_per_host": )" << number
                        << R"(, "transport": "", "version": "", "constants": {}, "alone": {}}]})";
    EXPECT_THAT(error_from([&] { read_constants(path); }), HasSubstr("must be a whole number from")) << number;
    const std::string rules =
        R"({"collectives": {"bcast": [{"comm_size_min": )" + std::string(number) +
        R"(, "comm_size_max": 4, "rules": [{"msg_size_min": 0, "msg_size_max": 9, "alg": "x"}]}]}})";
    EXPECT_THAT(error_from([&] { tuning::read_rules(rules, "FILE"); }), HasSubstr("FILE: comm_size_min is")) << number;
  }
}

TEST(Json, of_every_reader_may_be_as_deep_as_it_likes) {
  const std::string folder = folder_named("readers_test");
  const std::string path = folder + "/deep.json";
  for (const std::string& text : {deep_list(500'000), repeated("{\"a\":", 200'000),
                                  R"({"colltopo-topology":1,"hosts":2,"links":[)" + deep_list(100'000) + "]}",
                                  R"({"rule_file_version":3,"collectives":{"alltoall":[{"comm_size_min":)" +
                                      deep_list(12'000) + R"(,"rules":[]}]}})",
                                  R"({"colltopo_constants":[)" + deep_list(99'000) + "]}"}) {
    std::ofstream(path) << text;
    const auto answers = [&](auto read) {
      const std::string answer = within_bounds([&] { read(); });
      EXPECT_THAT(answer, HasSubstr("more than 100 deep"));
    };
    answers([&] { Rules::read(path); });
    answers([&] { read_constants(path); });
    answers([&] { machine_network(path); });
    if (text.front() == '{') answers([&] { tuning::read_rules(text, "FILE"); });
    answers([&] { tuning::measured_in(text, "FILE", "tuned", tuning::Dialect::tuned); });
  }
}

TEST(Readers, take_many_entries_in_time_and_no_long_words_for_all_of_them) {
  const std::string folder = folder_named("readers_test");
  const std::string path = folder + "/many";
  const auto after = [&](const std::string& text, const auto& read) {
    std::ofstream(path) << text;
    return within_bounds([&] { read(path); });
  };
  const auto decisions = [](const std::string& file) { DecisionFile::read(file); };
  std::string many = "colltopo-decisions 1\ncommunicator 4 ranks\n";
  for (int i = 0; many.size() < (4 << 20); ++i) many += "bcast " + std::to_string(i) + " 999999 0 - linear\n";
  EXPECT_EQ(after(many, decisions), "taken");
  EXPECT_EQ(after(many, [](const std::string& file) { DecisionFile::add(file, "8 ranks", {}); }), "taken");
  EXPECT_EQ(after("colltopo-decisions 1\ncommunicator " + std::string(4 << 20, 'x') + "\n" +
                      repeated("bcast 8 16 0 - linear\n", (4 << 20) / 22),
                  decisions),
            "taken");
  const auto rules = [](const std::string& file) { Rules::read(file); };
  const auto rules_for = [](const std::string& topology) {
    return R"({"collectives": {"bcast": [{"topology": ")" + topology + R"(", "rules": [)" +
           repeated(R"({"alg":"auto"},)", 30'000) + R"({"alg":"auto"}]}]}})";
  };
  EXPECT_THAT(after(rules_for(std::string(500'000, 'x')), rules),
              HasSubstr("bcast[0].topology has 500000 bytes; must have 4096 or fewer"));
  EXPECT_EQ(after(rules_for(std::string(4096, 'x')), rules), "taken");
}

TEST(Plain, text_has_no_control_characters_and_is_utf_8) {
  for (const std::string text : {"a\nb", "\x1b[31m", "\x7f",
                                 "\xc2\x9b"
                                 "31m",
                                 "\x9b", "caf\xe9", "\xc0\x80", "\xed\xa0\x80", "\xf5\x80\x80\x80", "\xe2\x80\xae",
                                 "\xe2\x80\xa8", "\xe2\x82"}) {
    EXPECT_FALSE(is_plain(text)) << text.size();
    EXPECT_TRUE(is_plain(plain_text(text)));
  }
  for (const std::string text : {"", "node-1.rack 2", "caf\xc3\xa9", "\xe8\x8a\x82\xe7\x82\xb9", "\xf0\x9f\x90\xa7"})
    EXPECT_TRUE(is_plain(text)) << text;
  EXPECT_EQ(plain_text("a\x1b[1m\xc2\x9b"
                       "b"),
            "a?[1m?b");
}

TEST(Quotes, hold_60_bytes_and_no_control_characters) {
  EXPECT_EQ(in_quotes("a\nb"), "'a?b'");
  EXPECT_EQ(in_quotes(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
  EXPECT_EQ(in_quotes(std::string(59, 'x') + "\xc3\xa9"), "'" + std::string(59, 'x') + "...'");
  EXPECT_EQ(shown(nlohmann::json(std::string(100, 'x'))).size(), 63u);
  EXPECT_EQ(shown(nlohmann::json::array()), "a list");
}

TEST(Topology, refuses_names_that_are_no_plain_text) {
  for (const std::string name : {"x\ntouch OWNED\n#", "\x1b]0;title\x07",
                                 "\xc2\x9b"
                                 "2J",
                                 "\x9b"
                                 "2J",
                                 "\xc0\x80"}) {
    EXPECT_THAT(error_from([&] { TopologyBuilder(name, 1); }), HasSubstr("control character"));
    EXPECT_THAT(error_from([&] { TopologyBuilder("net", 1).name_node(0, name); }), HasSubstr("control character"));
  }
  EXPECT_THAT(error_from([&] { TopologyBuilder("net", 1).name_node(0, std::string(1001, 'n')); }),
              HasSubstr("1001 bytes; allowed are 1000"));
  EXPECT_THAT(error_from([&] { topology_of("torus:4" + repeated("x1", 50)); }), HasSubstr("sides"));
}

TEST(Topology, that_is_no_file_is_no_family_either) {
  EXPECT_EQ(error_from([] { topology_of("/no/such.json"); }),
            "/no/such.json: no such file; expected a topology file or a spec such as torus:4x4");
  EXPECT_THAT(error_from([] { topology_of("./net.json/ranks:2"); }), HasSubstr("no such file"));
  EXPECT_THAT(error_from([] { topology_of("/dev/zero"); }), HasSubstr("no regular file"));
}

}  // namespace
}  // namespace colltopo
