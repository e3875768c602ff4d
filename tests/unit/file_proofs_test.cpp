// Schedule files are proved before anything of them runs, once, and what was proved is remembered by what is in them.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/digest.h"
#include "colltopo/algorithms.h"
#include "colltopo/text.h"
#include "colltopo/verify.h"
#include "comm/file_proofs.h"
#include "comm/proof_cache.h"
#include "folders.h"
#include "ranks.h"

namespace colltopo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Digest, is_blake2b_of_256_bits) {
  EXPECT_EQ(digest_of(""), "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(digest_of("abc"), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
  EXPECT_EQ(digest_of(std::string(128, 'a')), "ae2aa48507885c4c950fb809b2076f959cde9f8ea6da260d9a3587df33dac450");
  std::string bytes;
  for (int i = 0; i < 768; ++i) bytes += static_cast<char>(i);
  EXPECT_EQ(digest_of(bytes), "b8007121274217790e2923e0ad7027986e5a99d5531ef6ae7d294140fc81615d");
}

/// With a cache of its own.
class FileProofs : public testing::Test {
 protected:
  FileProofs() : folder_(folder_named("proofs_" + std::to_string(getpid()))) {
    setenv("XDG_CACHE_HOME", (folder_ + "/cache").c_str(), 1);
  }
  ~FileProofs() override { unsetenv("XDG_CACHE_HOME"); }

  std::string written(const std::string& name, const Schedule& schedule) const {
    std::ostringstream out;
    write_schedule(out, schedule);
    return written(name, out.str());
  }
  std::string written(const std::string& name, const std::string& text) const {
    const std::string path = folder_ + "/" + name + ".sched";
    std::ofstream(path) << text;
    return path;
  }
  std::string remembered_at(const std::string& digest) const { return folder_ + "/cache/colltopo/proofs/" + digest; }

  std::string folder_;
};

Schedule right(const char* algorithm, Collective collective, Rank ranks, const AlgorithmOptions& options = {}) {
  return generate(*algorithm_named(algorithm), {collective, ranks, 1, 0}, options);
}

/// A ring in which the last rank keeps its input to the end.
Schedule wrong() {
  Schedule schedule = right("ring", Collective::allreduce, 3);
  ProgramBuilder builder(schedule.shape, 2);
  for (std::size_t i = 0; i < schedule.programs[2].size(); ++i) {
    const Op op = schedule.programs[2].op(i);
    builder.step(op.step).add(op, op.source, op.target);
  }
  builder.copy({{Buffer::input, 0, 3}}, {{Buffer::output, 0, 3}});
  schedule.programs[2] = std::move(builder).build();
  schedule.proof = Proof{true, true, true, true, true};
  return schedule;
}

std::string digest_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return digest_of(std::string(std::istreambuf_iterator<char>(in), {}));
}

int sum(void*, const void* source, void* target, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i)
    static_cast<std::int64_t*>(target)[i] += static_cast<const std::int64_t*>(source)[i];
  return 0;
}

int allreduce(int rank, colltopo_comm* comm, int properties = COLLTOPO_OP_COMMUTATIVE | COLLTOPO_OP_ASSOCIATIVE_BITS) {
  const std::vector<std::int64_t> input(6, rank + 1);
  std::vector<std::int64_t> output(6, -1);
  colltopo_call call{};
  call.input = input.data();
  call.output = output.data();
  call.count = input.size();
  call.element_size = sizeof(std::int64_t);
  call.reduce = sum;
  call.op_properties = properties;
  return colltopo_allreduce(comm, &call);
}

struct Served {
  int status = 0;
  std::vector<std::string> said;
};
/// An allreduce on three ranks by the file.
Served allreduce_by(const std::string& path, const std::string& prove = "on") {
  Ranks job(3);
  Served served;
  job.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "prove", prove.c_str());
    colltopo_comm_set(comm, "allreduce_algorithm", ("file:" + path).c_str());
    const int status = allreduce(rank, comm);
    if (rank == 0) served.status = status;
  });
  served.said = job.said;
  return served;
}

TEST_F(FileProofs, a_right_file_needs_no_proof_line_and_is_remembered) {
  const std::string path = written("right", right("ring", Collective::allreduce, 3));
  EXPECT_EQ(allreduce_by(path).status, COLLTOPO_SUCCESS);
  EXPECT_EQ(remembered_proof(digest_of_file(path)), proof_of(verify(right("ring", Collective::allreduce, 3))));
  const Served believed = allreduce_by(path, "off");
  EXPECT_EQ(believed.status, COLLTOPO_DECLINED);
  EXPECT_THAT(believed.said, ElementsAre(HasSubstr("has no proof, which a reduction needs")));
}

TEST_F(FileProofs, a_wrong_file_does_not_run_whatever_it_claims_and_is_named_once) {
  const std::string path = written("wrong", wrong());
  const Served first = allreduce_by(path);
  EXPECT_EQ(first.status, COLLTOPO_DECLINED);
  EXPECT_THAT(first.said,
              ElementsAre(HasSubstr("0: allreduce: " + path + ": rank 2: output:0 ends with chunk 0 of rank 2, not")));
  const Served second = allreduce_by(path);
  EXPECT_EQ(second.status, COLLTOPO_DECLINED);
  EXPECT_THAT(second.said, IsEmpty());
  EXPECT_EQ(remembered_proof(digest_of_file(path)), std::nullopt);
  EXPECT_EQ(allreduce_by(path, "off").status, COLLTOPO_SUCCESS);  // for those who know
}

TEST_F(FileProofs, a_file_that_is_put_in_place_of_another_is_proved_as_well) {
  const std::string path = written("replaced", right("ring", Collective::allreduce, 3));
  EXPECT_EQ(allreduce_by(path).status, COLLTOPO_SUCCESS);
  std::filesystem::remove(path);
  written("replaced", wrong());
  EXPECT_EQ(allreduce_by(path).status, COLLTOPO_DECLINED);
}

TEST_F(FileProofs, what_is_found_holds_not_what_the_proof_line_claims) {
  Schedule schedule = right("ring", Collective::allreduce, 3);
  schedule.proof = Proof{true, true, true, true, true};
  const std::string path = written("claims", schedule);
  Ranks job(3);
  job.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "allreduce_algorithm", ("file:" + path).c_str());
    EXPECT_EQ(allreduce(rank, comm, COLLTOPO_OP_ASSOCIATIVE_BITS), COLLTOPO_DECLINED);
  });
  EXPECT_THAT(job.said, ElementsAre(HasSubstr("does not keep the order of ranks")));
}

// Its programs are made by the algorithm, which knows what they are; nothing is read but its header.
TEST_F(FileProofs, parametric_files_are_what_their_algorithm_is) {
  ScheduleHeader header;
  header.name = "ring";
  header.shape = {Collective::allreduce, 3, 1, 0};
  header.algorithm = "ring";
  header.steps = right("ring", Collective::allreduce, 3).steps();
  header.proof = Proof{true, true, true, true, true};
  std::ostringstream out;
  write_parametric(out, header);
  const std::string path = written("parametric", out.str());
  Ranks job(3);
  job.run([&](int rank, colltopo_comm* comm) {
    colltopo_comm_set(comm, "allreduce_algorithm", ("file:" + path).c_str());
    EXPECT_EQ(allreduce(rank, comm), COLLTOPO_SUCCESS);
    EXPECT_EQ(allreduce(rank, comm, COLLTOPO_OP_ASSOCIATIVE_BITS), COLLTOPO_DECLINED);
  });
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/cache"));
}

TEST_F(FileProofs, what_others_could_have_written_is_not_remembered) {
  const std::string digest = digest_of("a schedule"), path = remembered_at(digest);
  const Proof proof{.in_place = true, .stepped = true};
  EXPECT_EQ(remembered_proof(digest), std::nullopt);
  remember_proof(digest, proof);
  EXPECT_EQ(remembered_proof(digest), proof);
  EXPECT_EQ(remembered_proof(digest_of("another")), std::nullopt);

  chmod(path.c_str(), 0666);
  EXPECT_EQ(remembered_proof(digest), std::nullopt);
  chmod(path.c_str(), 0644);
  const std::string proofs = std::filesystem::path(path).parent_path().string();
  chmod(proofs.c_str(), 0777);
  EXPECT_EQ(remembered_proof(digest), std::nullopt);
  chmod(proofs.c_str(), 0755);
  EXPECT_EQ(remembered_proof(digest), proof);

  std::ifstream in(path);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  const std::string version = "verifier " + std::to_string(k_verifier_version);
  std::string of_another = text;
  of_another.replace(of_another.find(version), version.size(), "verifier 0");
  for (const std::string& other : {text.substr(0, text.size() - 1), of_another, std::string(), text + "x"}) {
    std::ofstream(path) << other;
    EXPECT_EQ(remembered_proof(digest), std::nullopt) << other;
  }
}

TEST_F(FileProofs, without_a_cache_files_are_proved_each_time) {
  for (const char* const cache : {"/dev/null", "/proc/nowhere"}) {
    setenv("XDG_CACHE_HOME", cache, 1);
    const std::string path = written("no_cache", right("ring", Collective::allreduce, 3));
    EXPECT_EQ(allreduce_by(path).status, COLLTOPO_SUCCESS) << cache;
    EXPECT_EQ(allreduce_by(written("no_cache_wrong", wrong())).status, COLLTOPO_DECLINED) << cache;
  }
}

/// Four ranks exchange shards of so many chunks; rank 0 sends one chunk less to rank 1 than that receives.
Schedule large(Chunk chunks, bool is_right) {
  const Shape shape{Collective::alltoall, 4, chunks, 0};
  return schedule_of("large", shape, [&](Rank rank) {
    ProgramBuilder program(shape, rank);
    program.copy({{Buffer::input, rank * chunks, chunks}}, {{Buffer::output, rank * chunks, chunks}});
    for (Rank peer = 0; peer < shape.ranks; ++peer) {
      if (peer == rank) continue;
      const Chunk sent = is_right || rank != 0 || peer != 1 ? chunks : chunks - 1;
      program.step(1).send({{Buffer::input, peer * chunks, sent}}, peer);
      program.recv({{Buffer::output, peer * chunks, chunks}}, peer);
    }
    return std::move(program).build();
  });
}

TEST_F(FileProofs, ranks_compare_what_they_send_and_receive_where_proving_takes_too_long) {
  for (const bool is_right : {true, false}) {
    const std::string path = written(is_right ? "large" : "large_wrong", large(1 << 19, is_right));
    Ranks job(4);
    job.run([&](int, colltopo_comm* comm) {
      colltopo_comm_set(comm, "alltoall_algorithm", ("file:" + path).c_str());
      std::vector<char> input(4, 'a'), output(4, 'b');
      colltopo_call call{};
      call.input = input.data();
      call.output = output.data();
      call.count = 1;
      call.element_size = 1;
      EXPECT_EQ(colltopo_alltoall(comm, &call), is_right ? COLLTOPO_SUCCESS : COLLTOPO_DECLINED);
    });
    if (is_right)
      EXPECT_THAT(job.said, IsEmpty());
    else
      EXPECT_THAT(job.said, ElementsAre(HasSubstr("what rank 1 receives from 0 is not what that sends")));
  }
}

TEST(Pairs, see_number_step_lane_and_length_of_messages_but_no_cuts_of_runs) {
  const Shape shape{Collective::alltoall, 2, 4, 0};
  const auto sent = [&](const std::function<void(ProgramBuilder&)>& fill) {
    ProgramBuilder program(shape, 0);
    fill(program);
    return messages_of(std::move(program).build(), Action::send)[1];
  };
  const auto send = [](ProgramBuilder& p, RunList runs, Lane lane = 0) { p.send(runs, 1, lane); };
  const long long whole = sent([&](ProgramBuilder& p) { send(p.step(1), {{Buffer::input, 4, 4}}); });
  EXPECT_EQ(whole, sent([&](ProgramBuilder& p) { send(p.step(1), {{Buffer::input, 0, 2}, {Buffer::input, 6, 2}}); }));
  EXPECT_NE(whole, sent([&](ProgramBuilder& p) { send(p.step(2), {{Buffer::input, 4, 4}}); }));
  EXPECT_NE(whole, sent([&](ProgramBuilder& p) { send(p.step(1), {{Buffer::input, 4, 4}}, 1); }));
  EXPECT_NE(whole, sent([&](ProgramBuilder& p) { send(p.step(1), {{Buffer::input, 4, 3}}); }));
  EXPECT_NE(whole, sent([&](ProgramBuilder& p) { send(p.step(1), {{Buffer::input, 5, 3}}); }));
  EXPECT_NE(whole, sent([&](ProgramBuilder&) {}));
  EXPECT_NE(whole, sent([&](ProgramBuilder& p) {
              send(p.step(1), {{Buffer::input, 4, 4}});
              send(p, {{Buffer::input, 4, 4}});
            }));
}

}  // namespace
}  // namespace colltopo
