// Shares that follow the traffic: planned, proved, put into programs, and taken by all ranks at the same call.
#include <gmock/gmock.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "colltopo/chunking.h"
#include "colltopo/cost.h"
#include "colltopo/error.h"
#include "colltopo/route_shares.h"
#include "colltopo/routed.h"
#include "colltopo/synthesis.h"
#include "colltopo/text.h"
#include "colltopo/verify.h"
#include "comm/share_planner.h"
#include "folders.h"
#include "ranks.h"
#include "uneven.h"
#include "uneven_operation.h"

namespace colltopo {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

/// The best weights on disjoint paths, and those paths that have none.
Schedule many_routes(const Topology& topology) {
  const Synthesis synthesis = routing_method_named("mcf-path")->make(topology, {});
  Chunked chunks = chunked(topology, synthesis.routing, 12);
  chunks.routing = with_spare_paths(topology, chunks.routing, {});
  Schedule schedule = whole(routed_sections("mcf-path", topology, std::move(chunks), LayerMethod::lash_sequential));
  schedule.proof = proof_of(verify(schedule));
  EXPECT_TRUE(verify(schedule).valid());
  EXPECT_TRUE(verify_on(schedule, topology).empty());
  return schedule;
}
Schedule many_routes(const std::string& spec) { return many_routes(topology_of(spec)); }

std::string folder_with(const std::string& name, const Schedule& schedule) {
  const std::string folder = folder_named(name);
  std::ofstream out(folder + "/alltoall.sched");
  write_schedule(out, schedule);
  return folder;
}

TEST(RouteShares, a_schedule_may_have_routes_that_no_message_takes) {
  const Schedule schedule = many_routes("torus:3x3");
  const Routing all = all_routes(schedule), used = routing_of(schedule);
  EXPECT_EQ(all.paths(), schedule.routes.size());
  EXPECT_EQ(all.paths(), 9u * 8 * 4);  // four disjoint paths of every pair
  EXPECT_LT(used.paths(), all.paths());
  EXPECT_EQ(link_loads(topology_of("torus:3x3"), all), link_loads(topology_of("torus:3x3"), used));
  EXPECT_EQ(routing_fault(topology_of("torus:3x3"), used), "");
}

TEST(RouteShares, are_put_into_programs_that_are_proved) {
  const Schedule schedule = many_routes("torus:3x3");
  const Topology topology = topology_of("torus:3x3");
  const Routing routes = all_routes(schedule);
  Routing other(routes.hosts());  // the last two routes of every pair
  for (std::size_t i = 0; i < routes.paths(); ++i)
    if (const WeightedPath path = routes.path(i); i % 4 > 1) other.add(path.source, path.target, 0.5, path.links);
  const RouteShares shares(schedule.routes, other, 2);
  EXPECT_EQ(RouteShares::from_text(shares.text()), shares);
  Schedule made = schedule;
  made.shape.chunks = 2;
  for (Program& program : made.programs) program = program_of(shares, program.rank());
  EXPECT_TRUE(verify(made).valid());
  EXPECT_THAT(link_loads(made, topology), testing::Pointwise(testing::DoubleNear(1e-9), link_loads(topology, other)));
}

TEST(RouteShares, those_of_a_schedule_make_its_programs) {
  const Schedule schedule = many_routes("bipartite:2:3");
  const RouteShares shares(schedule.routes, routing_of(schedule), schedule.shape.chunks);
  for (const Program& program : schedule.programs) EXPECT_EQ(program_of(shares, program.rank()), program);
}

TEST(RouteShares, are_those_of_the_ranks_at_the_places) {
  const Schedule schedule = many_routes("ring:4");
  const RouteShares shares(schedule.routes, routing_of(schedule), schedule.shape.chunks);
  const std::vector<Rank> rank_at = {2, 0, 3, 1};
  const RouteShares renamed = shares.renamed(rank_at);
  const auto rank = [&](Rank place) { return rank_at[static_cast<std::size_t>(place)]; };
  for (Rank source = 0; source < 4; ++source)
    for (Rank target = 0; target < 4; ++target)
      EXPECT_TRUE(std::ranges::equal(renamed.parts(rank(source), rank(target)), shares.parts(source, target)));
}

TEST(RouteShares, of_other_routes_or_a_damaged_text_are_refused) {
  const Schedule schedule = many_routes("ring:4");
  const std::string text = RouteShares(schedule.routes, routing_of(schedule), schedule.shape.chunks).text();
  const auto cut = text.substr(0, text.size() / 2);
  EXPECT_THAT([&] { RouteShares::from_text(cut); }, ThrowsMessage<Error>(HasSubstr("shares of routes")));
  EXPECT_THAT([] { RouteShares::from_text("2 4 0 1 0 3 0 0"); },
              ThrowsMessage<Error>(HasSubstr("3 chunks of a pair; expected 4")));
  EXPECT_THAT([] { RouteShares::from_text("2 4 x"); }, ThrowsMessage<Error>(HasSubstr("missing or out of range")));
  Routing stranger(4);
  stranger.add(0, 1, 1, std::vector<LinkId>{5, 6});
  EXPECT_THAT([&] { RouteShares(schedule.routes, stranger, 1); },
              ThrowsMessage<Error>(HasSubstr("from 0 to 1 that is none of the routes")));
  Schedule fewer = schedule;
  std::erase_if(fewer.routes, [](const Route& route) { return route.source == 2 && route.target == 3; });
  EXPECT_THAT([&] { all_routes(fewer); }, ThrowsMessage<Error>(HasSubstr("no route from 2 to 3")));
}

/// Rank 1 has eight times as much for everybody, and ranks 0 and 2 one large block for each other.
Traffic hot(int ranks) {
  Traffic bytes(static_cast<std::size_t>(ranks), std::vector<std::size_t>(static_cast<std::size_t>(ranks), 3000));
  for (std::size_t& size : bytes[1]) size = 24000;
  bytes[0][2] = bytes[2][0] = 100000;
  return bytes;
}

std::vector<std::uint64_t> flat(const Traffic& traffic) {
  std::vector<std::uint64_t> all;
  for (const auto& row : traffic) all.insert(all.end(), row.begin(), row.end());
  return all;
}

TEST(SharePlanner, finds_the_best_shares_of_the_routes_and_says_how_good_they_are) {
  for (const char* const spec : {"torus:3x3", "bipartite:3:3", "hypercube:3"}) {
    const Schedule schedule = many_routes(spec);
    const auto topology = std::make_shared<const Topology>(topology_of(spec));
    std::vector<NodeId> host_of;
    for (Rank rank = 0; rank < schedule.shape.ranks; ++rank) host_of.push_back((rank + 3) % schedule.shape.ranks);
    SharePlanner planner(folder_with("planner", schedule) + "/alltoall.sched", topology, places_of(*topology, host_of),
                         0);
    const std::vector<std::uint64_t> bytes = flat(hot(schedule.shape.ranks));
    const std::atomic<bool> ends = false;
    const SharePlan plan = planner.plan(bytes, ends);
    ASSERT_EQ(plan.shares.ranks(), schedule.shape.ranks) << spec;
    EXPECT_LT(plan.after_s, 0.98 * plan.before_s) << spec;
    EXPECT_LE(plan.least_routes_s, plan.after_s * (1 + 1e-9)) << spec;
    EXPECT_LT(plan.after_s, 1.08 * plan.least_routes_s) << spec;  // whole chunks cost some
    EXPECT_LE(plan.least_s, plan.least_routes_s * (1 + 1e-9)) << spec;
    // The same once more is as good as it was; equal blocks are not served by these any more.
    EXPECT_EQ(planner.plan(bytes, ends).shares.ranks(), 0) << spec;
    const Traffic even(hot(schedule.shape.ranks).size(),
                       std::vector<std::size_t>(hot(schedule.shape.ranks).size(), 5000));
    EXPECT_GT(planner.plan(flat(even), ends).shares.ranks(), 0) << spec;
    const std::atomic<bool> at_once = true;
    EXPECT_THAT([&] { planner.plan(bytes, at_once); }, ThrowsMessage<Error>(HasSubstr("ended"))) << spec;
  }
}

TEST(SharePlanner, uses_the_lanes_that_there_are) {
  const Topology torus = topology_of("torus:3x3");
  Chunked chunks = chunked(torus, routing_method_named("sssp")->make(torus, {}).routing, 1);
  chunks.routing = with_spare_paths(torus, chunks.routing, {});
  const Schedule schedule = routed_alltoall("sssp", torus, chunks);  // lane 0 alone has messages
  const auto topology = std::make_shared<const Topology>(topology_of("torus:3x3"));
  const std::vector<NodeId> host_of = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const std::string path = folder_with("planner_lanes", schedule) + "/alltoall.sched";
  const std::atomic<bool> ends = false;
  const auto largest_lane = [&](Lane lanes) {
    SharePlanner planner(path, topology, places_of(*topology, host_of), lanes);
    const SharePlan plan = planner.plan(flat(hot(9)), ends);
    Lane largest = -1;
    for (Rank source = 0; source < plan.shares.ranks(); ++source)
      for (Rank target = 0; target < plan.shares.ranks(); ++target)
        for (const RouteShares::Part& part : plan.shares.parts(source, target)) largest = std::max(largest, part.lane);
    return largest;
  };
  EXPECT_GT(largest_lane(0), 1);
  EXPECT_EQ(largest_lane(2), 1);
  EXPECT_EQ(largest_lane(1), -1);  // there is nothing to share
}

TEST(SharePlanner, nothing_sent_needs_no_plan) {
  const auto topology = std::make_shared<const Topology>(topology_of("ring:4"));
  const std::vector<NodeId> host_of = {0, 1, 2, 3};
  SharePlanner planner(folder_with("planner_nothing", many_routes("ring:4")) + "/alltoall.sched", topology,
                       places_of(*topology, host_of), 0);
  const std::atomic<bool> ends = false;
  EXPECT_EQ(planner.plan(std::vector<std::uint64_t>(16, 0), ends).shares.ranks(), 0);
}

/// One pair has far more than others, of which all have something.
Traffic huge(int ranks) {
  Traffic bytes = traffic(ranks, Pattern::one_huge, 7);
  for (std::vector<std::size_t>& row : bytes)
    for (std::size_t& one : row) ++one;
  return bytes;
}

/// Calls of an alltoallv with every byte checked: those of the first traffic, then of the second, until all that is
/// wanted has been said or half a minute is over.
struct Job {
  std::string spec = "torus:3x3", folder;
  std::vector<int> host_of;  // [rank]
  std::string every = "3", plan = "0";
  int calls = 60;
  std::string wanted;
  int times = 0;
  std::function<void(int call)> before = [](int) {};
  std::unique_ptr<Ranks> all = nullptr;

  std::vector<std::string> said() {
    const auto begin = std::chrono::steady_clock::now();
    // Rank 0 says so before it begins the call; as every pair has something in it, the others know at its end.
    std::atomic<int> last = -1;
    return said_by([&](int rank, colltopo_comm* comm) {
      const auto ranks = static_cast<int>(host_of.size());
      for (int call = 0; last < 0 || call <= last; ++call) {
        if (rank == 0) {
          before(call);
          const bool is_late = std::chrono::steady_clock::now() - begin > std::chrono::seconds(30);
          if (call + 1 >= calls && (is_late || all->times_said(wanted) >= times)) last = call;
        }
        std::mt19937 random(static_cast<unsigned>(100 * call + rank));
        Exchange exchange(2 * call < calls ? hot(ranks) : huge(ranks), rank, random);
        const auto function = call % 4 == 3 ? colltopo_alltoallw : colltopo_alltoallv;
        ASSERT_EQ(exchange.run(comm, function), COLLTOPO_SUCCESS) << "call " << call;
        ASSERT_TRUE(exchange.is_right()) << "rank " << rank << " call " << call;
        if (rank == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
  }
  /// What is said where all ranks make these calls.
  std::vector<std::string> said_by(const std::function<void(int rank, colltopo_comm* comm)>& calls_of) {
    all = std::make_unique<Ranks>(static_cast<int>(host_of.size()));
    all->node_of = host_of;
    for (const int host : host_of) all->host_names.push_back("n" + std::to_string(host));
    std::string hosts;
    for (int host = 0; host < topology_of(spec).hosts(); ++host)
      hosts += (host > 0 ? ",n" : "n") + std::to_string(host);
    all->run([&](int rank, colltopo_comm* comm) {
      for (const auto& [name, value] :
           std::map<std::string, std::string>{{"topology", spec},
                                              {"hosts", hosts},
                                              {"schedules", folder},
                                              {"alltoallv_replan", every},
                                              {"alltoallv_plan", plan},
                                              {"choice", every == "0" ? "model" : "measured"},
                                              {"verbose", "1"}})
        ASSERT_EQ(colltopo_comm_set(comm, name.c_str(), value.c_str()), COLLTOPO_SUCCESS) << colltopo_last_error();
      calls_of(rank, comm);
    });
    EXPECT_EQ(all->unequal_lengths(), 0);
    return all->said;
  }
};

std::size_t times_planned(const std::vector<std::string>& said) {
  return static_cast<std::size_t>(std::ranges::count_if(
      said, [](const std::string& line) { return line.find("new shares take") != std::string::npos; }));
}

TEST(Replan, calls_go_on_with_shares_for_their_traffic) {
  Job job;
  job.folder = folder_with("replan", many_routes(job.spec));
  job.host_of = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  job.wanted = "new shares take";
  job.times = 2;
  const std::vector<std::string> said = job.said();
  EXPECT_GE(times_planned(said), 2u) << testing::PrintToString(said);
  EXPECT_THAT(said, Not(Contains(HasSubstr("no longer"))));
  std::size_t read = 0;
  for (const std::string& line : said) {
    const std::size_t at = line.find("traffic of ");
    if (at == std::string::npos) continue;
    int calls = 0;
    double after = 0, before = 0, least_routes = 0, least = 0;
    ASSERT_EQ(std::sscanf(line.c_str() + at,
                          "traffic of %d calls: new shares take %lf ms of the busiest link per call, those before %lf; "
                          "at least %lf by these routes, %lf by any",
                          &calls, &after, &before, &least_routes, &least),
              5)
        << line;
    ++read;
    EXPECT_EQ(calls % 3, 0) << line;
    EXPECT_LT(after, before) << line;
    EXPECT_LE(least_routes, after * 1.01) << line;
    EXPECT_LE(least, least_routes * 1.01) << line;
  }
  EXPECT_EQ(read, times_planned(said));
}

TEST(Replan, ranks_may_be_anywhere_and_several_on_a_host) {
  Job job;
  job.host_of = {5, 0, 5, 2, 1};
  job.spec = "torus:2x3";
  const Topology machine = topology_of(job.spec);
  const std::vector<int> ranks_on = {1, 1, 1, 0, 0, 2};
  const Topology topology = with_ranks(machine, ranks_on);
  job.folder = folder_with("replan_places", many_routes(topology));
  job.wanted = "new shares take";
  job.times = 1;
  const std::vector<std::string> said = job.said();
  EXPECT_GE(times_planned(said), 1u) << testing::PrintToString(said);
  EXPECT_THAT(said, Not(Contains(HasSubstr("no longer"))));
}

TEST(Replan, what_cannot_be_planned_is_said_once_and_calls_go_on) {
  Job job;
  job.folder = folder_with("replan_gone", many_routes(job.spec));
  job.host_of = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  job.before = [&](int call) {
    if (call == 1) std::filesystem::remove_all(job.folder);
  };
  job.wanted = "shares no longer follow the traffic";
  job.times = 1;
  const std::vector<std::string> said = job.said();
  EXPECT_EQ(times_planned(said), 0u);
  EXPECT_EQ(std::ranges::count_if(said,
                                  [](const std::string& line) {
                                    return line.starts_with("0: ") &&
                                           line.find("shares no longer follow the traffic") != std::string::npos;
                                  }),
            1)
      << testing::PrintToString(said);
}

// Messages of sums are under way then, or a plan is being made.
TEST(Replan, a_communicator_may_end_at_any_call) {
  const std::string folder = folder_with("replan_end", many_routes("torus:3x3"));
  for (int calls = 1; calls < 9; ++calls) {
    Job job;
    job.folder = folder;
    job.every = "1";
    job.calls = calls;
    job.host_of = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    job.said();
  }
}

TEST(Replan, without_the_setting_nothing_is_planned) {
  Job job;
  job.folder = folder_with("replan_off", many_routes(job.spec));
  job.host_of = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  job.every = "0";
  EXPECT_EQ(times_planned(job.said()), 0u);
}

/// Operations of two traffics that begin again and again, beside one that begins once and calls that block.
std::vector<std::string> said_by_operations(Job& job) {
  return job.said_by([&](int rank, colltopo_comm* comm) {
    const auto ranks = static_cast<int>(job.host_of.size());
    std::mt19937 random(static_cast<unsigned>(rank));
    const Traffic other = traffic(ranks, Pattern::one_huge, 7);
    std::vector<std::unique_ptr<UnevenOperation>> all;
    const auto make = [&](int collective, const Traffic& of, int how) {
      const int tag = -100 - static_cast<int>(all.size());
      all.push_back(std::make_unique<UnevenOperation>(comm, collective, of, rank, tag, random, how));
      all.back()->start();
    };
    make(COLLTOPO_ALLTOALLV, hot(ranks), COLLTOPO_AGAIN);
    make(COLLTOPO_ALLTOALLV, hot(ranks), 0);
    make(COLLTOPO_ALLTOALLW, other, COLLTOPO_AGAIN);
    make(COLLTOPO_ALLTOALLV, hot(ranks), COLLTOPO_AGAIN);
    for (int round = 0; round < 3; ++round) {
      for (bool over = false; !over;) {
        over = true;
        for (const auto& one : all) over = one->progress() && over;
        std::this_thread::yield();
      }
      for (const auto& one : all) ASSERT_TRUE(one->is_right()) << "rank " << rank << " round " << round;
      for (const auto& one : all) one->start_again();
      Exchange between(other, rank, random);
      ASSERT_EQ(between.run(comm, colltopo_alltoallv), COLLTOPO_SUCCESS);
      ASSERT_TRUE(between.is_right());
    }
    for (const auto& one : all)
      while (!one->progress()) std::this_thread::yield();
  });
}

TEST(PlanAtInit, operations_that_begin_again_have_shares_for_their_own_traffic) {
  Job job;
  job.every = "0";
  job.plan = "1";
  job.folder = folder_with("plan_at_init", many_routes(job.spec));
  job.host_of = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  const std::vector<std::string> said = said_by_operations(job);
  EXPECT_EQ(times_planned(said), 3u) << testing::PrintToString(said);
  EXPECT_THAT(said, Contains(HasSubstr("alltoallw for its own traffic: new shares take")));
}

TEST(PlanAtInit, ranks_may_be_anywhere_and_several_on_a_host) {
  Job job;
  job.every = "0";
  job.plan = "1";
  job.host_of = {5, 0, 5, 2, 1};
  job.spec = "torus:2x3";
  const std::vector<int> ranks_on = {1, 1, 1, 0, 0, 2};
  job.folder = folder_with("plan_at_init_places", many_routes(with_ranks(topology_of(job.spec), ranks_on)));
  EXPECT_GE(times_planned(said_by_operations(job)), 2u);
}

TEST(PlanAtInit, without_the_setting_or_the_file_the_shares_are_those_of_the_file) {
  Job job;
  job.every = "0";
  job.folder = folder_with("plan_at_init_off", many_routes(job.spec));
  job.host_of = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(times_planned(said_by_operations(job)), 0u);
  job.plan = "1";
  job.before = [&](int) { std::filesystem::remove_all(job.folder); };
  const std::vector<std::string> said = job.said_by([&](int rank, colltopo_comm* comm) {
    std::mt19937 random(static_cast<unsigned>(rank));
    Exchange first(hot(9), rank, random);
    ASSERT_EQ(first.run(comm, colltopo_alltoallv), COLLTOPO_SUCCESS);  // the file has been read
    if (rank == 0) job.before(0);
    UnevenOperation operation(comm, COLLTOPO_ALLTOALLV, hot(9), rank, -100, random, COLLTOPO_AGAIN);
    operation.start();
    while (!operation.progress()) std::this_thread::yield();
    ASSERT_TRUE(operation.is_right());
  });
  EXPECT_EQ(times_planned(said), 0u);
  EXPECT_THAT(said, Contains(HasSubstr("alltoallv keeps the shares of its file: ")));
}

}  // namespace
}  // namespace colltopo
