// MPI's v and w calls that do not block, and persistent ones: random counts (zeros, one huge, none on a rank, nothing
// at all), places with gaps and in any order, derived datatypes that are freed while the call runs, arrays that are
// overwritten where MPI allows it, MPI_IN_PLACE; many at once, completed in any order, among blocking calls; begun
// again and again with other data. Every int of every buffer is compared, and the counters say that coll/topo ran.
#include <functional>
#include <memory>
#include <random>

#include "calls.h"
#include "uneven_sides.h"

namespace {

using namespace mpi_test;

enum class Call { allgatherv, gatherv, scatterv, alltoallv, alltoallw };
constexpr Call k_calls[] = {Call::allgatherv, Call::gatherv, Call::scatterv, Call::alltoallv, Call::alltoallw};
constexpr const char* k_names[] = {"iallgatherv", "igatherv", "iscatterv", "ialltoallv", "ialltoallw"};

/// Ints that each side of a call holds, by blocks; and whose they are.
class Uneven {
 public:
  Uneven(Place place, Call call, int root) : place_(std::move(place)), call_(call), root_(root) {
    std::mt19937 random(place_.seed * 100 + static_cast<unsigned>(place_.rank));
    auto all = traffic(place_.ranks, place_.seed);
    // In place what a rank sends another is as long as what it gets from there.
    for (std::size_t a = 0; exchanges() && place_.in_place && a < all.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) all[a][b] = all[b][a];
    const std::vector<int> first = column(all, 0);
    const std::vector<int> own = {first[static_cast<std::size_t>(place_.rank)]};
    std::vector<Element> sent = place_.all(place_.sent), received = place_.all(place_.received);
    for (std::size_t peer = 0; call == Call::alltoallw && peer < sent.size(); ++peer) {
      if ((peer + static_cast<std::size_t>(place_.rank)) % 2 == 0) sent[peer] = place_.received;
      if ((peer + static_cast<std::size_t>(place_.rank)) % 3 == 0) received[peer] = place_.sent;
    }
    if (!exchanges() && call != Call::scatterv) sent.resize(1);
    if (call == Call::scatterv) received.resize(1);
    input_ = std::make_unique<Side>(exchanges()              ? all[static_cast<std::size_t>(place_.rank)]
                                    : call == Call::scatterv ? first
                                                             : own,
                                    sent, random);
    output_ = std::make_unique<Side>(exchanges()              ? column(all, place_.rank)
                                     : call == Call::scatterv ? own
                                                              : first,
                                     received, random);
    wanted_ = std::make_unique<Side>(*output_);
    fill(0);
  }

  bool is_root() const { return place_.rank == root_; }
  bool exchanges() const { return call_ == Call::alltoallv || call_ == Call::alltoallw; }
  bool in_place() const {
    return place_.in_place && ((call_ != Call::gatherv && call_ != Call::scatterv) || is_root());
  }
  MPI_Request* request() { return &request_; }

  /// This rank's values of a round, and what it is to receive.
  void fill(int round) {
    Side &in = *input_, &out = *output_, &wanted = *wanted_;
    std::fill(out.memory.begin(), out.memory.end(), k_untouched);
    std::fill(wanted.memory.begin(), wanted.memory.end(), k_untouched);
    const int own = place_.rank, ranks = place_.ranks;
    const int add = 1000 * round;  // another rank's number, as far as values go
    switch (call_) {
      case Call::alltoallv:
      case Call::alltoallw:
        for (int peer = 0; peer < ranks; ++peer) {
          const auto block = static_cast<std::size_t>(peer);
          in.fill(block, own + add, peer);
          if (in_place()) out.fill(block, own + add, peer);
          wanted.fill(block, peer + add, own);
        }
        break;
      case Call::scatterv:
        for (int peer = 0; is_root() && peer < ranks; ++peer) in.fill(static_cast<std::size_t>(peer), peer + add, 0);
        if (!in_place()) wanted.fill(0, own + add, 0);
        break;
      default:
        in.fill(0, own + add, 0);
        if (in_place()) out.fill(static_cast<std::size_t>(own), own + add, 0);
        for (int peer = 0; peer < ranks && (is_root() || call_ == Call::allgatherv); ++peer)
          wanted.fill(static_cast<std::size_t>(peer), peer + add, 0);
    }
  }

  /// `persistent`: MPI_Alltoallv_init and its like. The datatypes are duplicates that are freed at once.
  void begin(bool persistent) {
    sent_counts_ = input_->counts;
    received_counts_ = output_->counts;
    const bool bytes = call_ == Call::alltoallw;
    sent_places_ = bytes ? input_->bytes_before() : input_->displacements();
    received_places_ = bytes ? output_->bytes_before() : output_->displacements();
    sent_types_ = duplicates(*input_);
    received_types_ = duplicates(*output_);
    const MPI_Info none = MPI_INFO_NULL;
    MPI_Request* const r = &request_;
    const MPI_Comm comm = place_.comm;
    int* const in = input_->memory.data();
    int* const out = output_->memory.data();
    const void* const all_in = in_place() ? MPI_IN_PLACE : in;
    const int *const sc = sent_counts_.data(), *const rc = received_counts_.data();
    const int *const sp = sent_places_.data(), *const rp = received_places_.data();
    const MPI_Datatype st = sent_types_[0], rt = received_types_[0];
    const MPI_Datatype *const sts = sent_types_.data(), *const rts = received_types_.data();
    switch (call_) {
      case Call::allgatherv:
        if (persistent)
          MPI_TEST_INIT(Allgatherv)(in_place() ? MPI_IN_PLACE : block_in(), sc[0], st, out, rc, rp, rt, comm, none, r);
        else
          MPI_Iallgatherv(in_place() ? MPI_IN_PLACE : block_in(), sc[0], st, out, rc, rp, rt, comm, r);
        break;
      case Call::gatherv:
        if (persistent) MPI_TEST_INIT(Gatherv)
        (in_place() ? MPI_IN_PLACE : block_in(), sc[0], st, out, rc, rp, rt, root_, comm, none, r);
        else MPI_Igatherv(in_place() ? MPI_IN_PLACE : block_in(), sc[0], st, out, rc, rp, rt, root_, comm, r);
        break;
      case Call::scatterv:
        if (persistent) MPI_TEST_INIT(Scatterv)
        (in, sc, sp, st, in_place() ? MPI_IN_PLACE : block_out(), rc[0], rt, root_, comm, none, r);
        else MPI_Iscatterv(in, sc, sp, st, in_place() ? MPI_IN_PLACE : block_out(), rc[0], rt, root_, comm, r);
        break;
      case Call::alltoallv:
        if (persistent)
          MPI_TEST_INIT(Alltoallv)(all_in, sc, sp, st, out, rc, rp, rt, comm, none, r);
        else
          MPI_Ialltoallv(all_in, sc, sp, st, out, rc, rp, rt, comm, r);
        break;
      case Call::alltoallw:
        if (persistent)
          MPI_TEST_INIT(Alltoallw)(all_in, sc, sp, sts, out, rc, rp, rts, comm, none, r);
        else
          MPI_Ialltoallw(all_in, sc, sp, sts, out, rc, rp, rts, comm, r);
    }
    free_all(sent_types_);
    free_all(received_types_);
  }
  void wait_and_check() {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    check();
  }
  void check() const { compare(k_names[static_cast<std::size_t>(call_)], place_, *output_, *wanted_); }

 private:
  // Open MPI looks at the types of MPI_Ialltoallw again at the end, so their handles must stay; what they stand for
  // need not.
  std::vector<MPI_Datatype> duplicates(const Side& side) const {
    std::vector<MPI_Datatype> all = side.types();
    for (MPI_Datatype& type : all)
      if (type != MPI_INT) MPI_Type_dup(type, &type);
    return all;
  }
  static void free_all(const std::vector<MPI_Datatype>& types) {
    for (MPI_Datatype type : types)
      if (type != MPI_INT) MPI_Type_free(&type);
  }
  int* block_in() { return input_->memory.data() + input_->places[0]; }
  int* block_out() { return output_->memory.data() + output_->places[0]; }

  Place place_;
  Call call_;
  int root_;
  std::unique_ptr<Side> input_, output_, wanted_;
  std::vector<int> sent_counts_, received_counts_, sent_places_, received_places_;
  std::vector<MPI_Datatype> sent_types_, received_types_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

Place place_of(MPI_Comm comm, const std::string& settings, unsigned seed, bool in_place, const Element& gaps) {
  Place place{comm, rank_in(comm), ranks_of(comm), settings, seed, in_place, {}, {}};
  if (seed % 4 == 1 || seed % 4 == 3) place.sent = gaps;
  if (seed % 4 == 2 || seed % 4 == 3) place.received = gaps;
  return place;
}

bool is_served(Call call, int ranks, unsigned seed) {
  return call != Call::allgatherv || !says_nothing(traffic(ranks, seed));
}

void one_by_one(MPI_Comm comm, const std::string& settings, const Element& gaps) {
  const Counter served("coll_topo_operations"), left("coll_topo_fallbacks");
  unsigned long long expected = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    for (const bool in_place : {false, true}) {
      for (const Call call : k_calls) {
        Uneven one(place_of(comm, settings, seed, in_place, gaps), call, static_cast<int>(seed) % ranks_of(comm));
        one.begin(false);
        one.wait_and_check();
        expected += is_served(call, ranks_of(comm), seed) ? 1 : 0;
      }
    }
  }
  expect(served.since_made() == expected, "%llu calls served with %s, not %llu", expected, settings.c_str(),
         served.since_made());
  expect(left.since_made() == 0, "none left to libnbc with %s, not %llu", settings.c_str(), left.since_made());
}

void again_and_again(MPI_Comm comm, const std::string& settings, const Element& gaps) {
  const Counter served("coll_topo_operations"), left("coll_topo_fallbacks");
  constexpr int k_rounds = 4;
  unsigned long long expected = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    const bool in_place = seed >= 5;
    std::vector<std::unique_ptr<Uneven>> all;
    std::vector<MPI_Request> requests;
    for (const Call call : k_calls) {
      all.push_back(std::make_unique<Uneven>(place_of(comm, settings, seed, in_place, gaps), call,
                                             static_cast<int>(seed) % ranks_of(comm)));
      all.back()->begin(true);
      requests.push_back(*all.back()->request());
      expected += is_served(call, ranks_of(comm), seed) ? k_rounds : 0;
    }
    for (int round = 0; round < k_rounds; ++round) {
      for (auto& one : all) one->fill(round);
      MPI_Startall(static_cast<int>(requests.size()), requests.data());
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
      for (auto& one : all) one->check();
    }
    for (MPI_Request& request : requests) MPI_Request_free(&request);
  }
  expect(served.since_made() == expected, "%llu starts served with %s, not %llu", expected, settings.c_str(),
         served.since_made());
  expect(left.since_made() == 0, "none left to libnbc with %s, not %llu", settings.c_str(), left.since_made());
}

// Each with sizes of its own, so that some ranks know a call and others do not.
void many_at_once(MPI_Comm comm, const std::string& settings, const Element& gaps) {
  std::vector<std::unique_ptr<Uneven>> all;
  std::mt19937 own(static_cast<unsigned>(rank_in(comm)));
  for (unsigned i = 0; i < 60; ++i) {
    const unsigned seed = 1 + i / 3 % 12;
    if (seed % 5 == 0) continue;  // megabytes
    all.push_back(std::make_unique<Uneven>(place_of(comm, settings, seed, i % 4 == 0, gaps), k_calls[i % 5],
                                           static_cast<int>(i) % ranks_of(comm)));
    all.back()->begin(false);
    if (i % 7 == 0) {
      long sum = 0;
      const long mine = 1;
      MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
      expect(sum == ranks_of(comm), "a blocking call meanwhile to be right, not %ld", sum);
    }
    int done = 0;
    if (own() % 3 == 0) MPI_Test(all[own() % all.size()]->request(), &done, MPI_STATUS_IGNORE);
  }
  std::shuffle(all.begin(), all.end(), own);
  for (auto& one : all) one->wait_and_check();
}

std::vector<std::string> forced(const std::string& gather, const std::string& exchange) {
  return {"allgatherv_algorithm", gather,   "alltoallv_algorithm", exchange, "alltoallw_algorithm", exchange,
          "gatherv_algorithm",    "linear", "scatterv_algorithm",  "linear"};
}

// Some left to libnbc among those that are served: tags must agree.
void mixed(MPI_Comm world, const Element& gaps) {
  auto settings = forced("ring", "linear");
  settings[3] = "fallback";  // alltoallv
  MPI_Comm comm = with_settings(world, settings);
  const Counter served("coll_topo_operations"), left("coll_topo_fallbacks");
  unsigned long long expected = 0, expected_left = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<std::unique_ptr<Uneven>> all;
    for (unsigned i = 0; i < 20; ++i) {
      const Call call = k_calls[i % 5];
      const unsigned seed = 1 + i % 3;
      all.push_back(std::make_unique<Uneven>(place_of(comm, "mixed", seed, false, gaps), call, 0));
      all.back()->begin(false);
      if (call == Call::alltoallv)
        ++expected_left;
      else if (is_served(call, ranks_of(comm), seed))
        ++expected;
    }
    for (auto one = all.rbegin(); one != all.rend(); ++one) (*one)->wait_and_check();
  }
  expect(left.since_made() == expected_left && served.since_made() == expected,
         "%llu left and %llu served, not %llu and %llu", expected_left, expected, left.since_made(),
         served.since_made());
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  Job job(&argc, &argv);
  const Element gaps = with_a_gap();
  std::vector<std::pair<std::string, std::string>> algorithms = {
      {"ring", "linear"}, {"bruck", "pairwise"},    {"swing", "linear"},           {"bruck:radix=4", "pairwise"},
      {"ring", "tra"},    {"ring", "tra2:group=2"}, {"ring", "node-pairs:group=2"}};
  if ((job.ranks & (job.ranks - 1)) == 0) algorithms.emplace_back("recursive-doubling", "linear");
  for (const auto& [gather, exchange] : algorithms) {
    MPI_Comm comm = with_settings(MPI_COMM_WORLD, forced(gather, exchange));
    const std::string settings = gather + " and " + exchange;
    one_by_one(comm, settings, gaps);
    again_and_again(comm, settings, gaps);
    many_at_once(comm, settings, gaps);
    MPI_Comm_free(&comm);
  }
  mixed(MPI_COMM_WORLD, gaps);
  MPI_Type_free(const_cast<MPI_Datatype*>(&gaps.type));
  return job.verdict();
}
