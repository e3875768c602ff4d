// Rules for other libraries: chosen from measurements, written, and read back as they were.
#include <gmock/gmock.h>

#include <limits>

#include "colltopo/error.h"
#include "errors.h"
#include "tuning/tuning.h"

namespace colltopo::tuning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::size_t k_any_bytes = std::numeric_limits<std::size_t>::max();
constexpr Rank k_any_ranks = std::numeric_limits<Rank>::max();

std::vector<Measured> some() {
  return {{Collective::alltoall, 4, 16, "tra radix=2", 1e-6},
          {Collective::alltoall, 4, 16, "linear", 2e-6},
          {Collective::alltoall, 4, 16, "swing", 1e-9},
          {Collective::alltoall, 4, 1024, "tra radix=2", 9e-6},
          {Collective::alltoall, 4, 1024, "linear", 4e-6},
          {Collective::alltoall, 16, 16, "tuned:linear_sync", 1e-6},
          {Collective::allreduce, 8, 64, "recursive-doubling", 1e-6},
          {Collective::allreduce, 8, 65536, "ring", 1e-6},
          {Collective::allreduce, 8, 65536, "recursive-halving", 5e-6}};
}

TEST(Tuning, takes_the_fastest_that_the_library_has) {
  const Collective alltoall = Collective::alltoall, allreduce = Collective::allreduce;
  // 64 and 4096 bytes of all shards on 4 ranks: their geometric mean is 512.
  EXPECT_THAT(
      rules_from(some(), Dialect::tuned),
      ElementsAre(Rule{alltoall, 4, 15, 0, 511, "modified_bruck"}, Rule{alltoall, 4, 15, 512, k_any_bytes, "linear"},
                  Rule{alltoall, 16, k_any_ranks, 0, k_any_bytes, "linear_sync"},
                  Rule{allreduce, 8, k_any_ranks, 0, 2047, "recursive_doubling"},
                  Rule{allreduce, 8, k_any_ranks, 2048, k_any_bytes, "ring"}));
}

TEST(Tuning, reads_back_what_it_wrote) {
  for (const Dialect dialect : {Dialect::tuned, Dialect::tuned_json, Dialect::ucc}) {
    const std::vector<Rule> rules = rules_from(some(), dialect);
    ASSERT_FALSE(rules.empty());
    const ReadRules read = read_rules(written(rules, dialect), "file");
    EXPECT_EQ(read.dialect, dialect);
    EXPECT_EQ(read.rules, rules) << name(dialect);
  }
}

TEST(Tuning, writes_the_classic_file_number_by_number) {
  EXPECT_EQ(written({{Collective::alltoall, 4, k_any_ranks, 0, 511, "modified_bruck"},
                     {Collective::alltoall, 4, k_any_ranks, 512, k_any_bytes, "linear"}},
                    Dialect::tuned),
            "1 # collectives\n3 # alltoall\n1 # communicator sizes\n4 # ranks\n2 # message sizes\n"
            "0 3 0 0 # modified_bruck\n512 1 0 0 # linear\n");
}

TEST(Tuning, writes_ucc_as_one_variable) {
  EXPECT_EQ(written({{Collective::alltoall, 4, 15, 0, 511, "bruck"},
                     {Collective::alltoall, 16, k_any_ranks, 512, k_any_bytes, "pairwise"}},
                    Dialect::ucc),
            "UCC_TL_UCP_TUNE=alltoall:0-512:[4-15]:inf:@bruck#alltoall:512-inf:[16-inf]:inf:@pairwise\n");
}

TEST(Tuning, reads_the_benchmark_and_what_native_was) {
  const std::string bench = R"({"program": "colltopo-bench", "results": [
    {"collective": "alltoall", "algorithm": "native", "bytes": 8, "ranks": 4, "median_us": 2.5},
    {"collective": "barrier", "algorithm": "native", "bytes": 8, "ranks": 4, "median_us": 2.5},
    {"collective": "alltoall", "algorithm": "linear", "bytes": 8, "ranks": 4, "median_us": 3}]})";
  const auto measured = measured_in(bench, "file", "pairwise", Dialect::tuned);
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_EQ(measured[0].algorithm, "tuned:pairwise");
  EXPECT_DOUBLE_EQ(measured[0].seconds, 2.5e-6);
  EXPECT_EQ(measured_in(bench, "file", "", Dialect::tuned).size(), 1U);
  EXPECT_THAT(rules_from(measured, Dialect::tuned), ElementsAre(testing::Field(&Rule::algorithm, "pairwise")));
}

TEST(Tuning, names_what_is_wrong) {
  EXPECT_THAT(error_from([] { measured_in("[]", "x.json", "", Dialect::ucc); }),
              HasSubstr("x.json: no object with 'results'"));
  EXPECT_THAT(
      error_from([] { measured_in(R"({"results": [{"collective": "alltoall"}]})", "x.json", "", Dialect::ucc); }),
      HasSubstr("x.json: results[0] lacks"));
  EXPECT_THAT(error_from([] { read_rules("1\n3\n1\n4\n1\n0 9 0 0\n", "x.conf"); }),
              HasSubstr("x.conf:6: algorithm 9 of alltoall; expected one of: linear"));
  EXPECT_THAT(error_from([] { read_rules("1\n3\n", "x.conf"); }),
              HasSubstr("the file ends; expected how many communicator sizes"));
  EXPECT_THAT(error_from([] { read_rules("UCC_TL_UCP_TUNE=alltoall:0-4k\n", "x"); }),
              HasSubstr("x: 'alltoall:0-4k'; expected as in"));
}

}  // namespace
}  // namespace colltopo::tuning
