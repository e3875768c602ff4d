// colltopo doctor: what an administrator runs first, and what support asks for.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <memory>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/doctor.h"
#include "comm/machine_network.h"

namespace colltopo::cli {

namespace {

struct DoctorArguments {
  std::string topology, schedules, hosts, allocation;
  int ranks = 0;
};

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

void print(const Findings& findings, const Session& session) {
  const auto faults = std::ranges::count_if(findings.all(), [](const Finding& one) { return !one.remedy.empty(); });
  if (session.json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Finding& one : findings.all())
      list.push_back({{"about", one.about}, {"good", one.remedy.empty()}, {"fact", one.fact}, {"remedy", one.remedy}});
    std::cout << nlohmann::ordered_json{{"version", COLLTOPO_VERSION},
                                        {"host", host_name()},
                                        {"faults", faults},
                                        {"findings", list}}
                     .dump(2)
              << '\n';
    return;
  }
  std::cout << fmt::format("colltopo {} on {}\n", COLLTOPO_VERSION, host_name());
  for (const Finding& one : findings.all()) {
    std::cout << fmt::format("{:<6}{:<12}{}\n", one.remedy.empty() ? "good" : "FAULT", one.about, one.fact);
    if (!one.remedy.empty()) std::cout << fmt::format("{:<18}to do: {}\n", "", one.remedy);
  }
  std::cout << (faults == 0 ? "nothing is wrong\n"
                            : fmt::format("{} to see to\n", counted(static_cast<std::size_t>(faults), "fault")));
}

void run_doctor(const DoctorArguments& arguments, Session& session) {
  Findings findings;
  const OpenMpi open_mpi = open_mpi_here();
  examine_open_mpi(open_mpi, findings);
  Job job{settings_of_job(open_mpi), hosts_of_allocation(), arguments.ranks};
  for (const auto& [name, value] : {std::pair("topology", &arguments.topology), std::pair("hosts", &arguments.hosts),
                                    std::pair("schedules", &arguments.schedules)})
    if (!value->empty()) job.settings[name] = *value;
  if (!arguments.allocation.empty()) job.hosts = listed_hosts(arguments.allocation);
  examine_job(job, findings);
  print(findings, session);
  if (std::ranges::any_of(findings.all(), [](const Finding& one) { return !one.remedy.empty(); }))
    session.status = k_examined_is_wrong;
}

}  // namespace

void add_doctor(CLI::App& app, Session& session) {
  CLI::App* command =
      subcommand(app, session, "doctor", "Whether coll/topo works here, and what to do where it does not");
  const auto arguments = std::make_shared<DoctorArguments>();
  command->add_option("--topology", arguments->topology, "The machine's network, in place of the job's setting");
  command->add_option("--schedules", arguments->schedules, "Folders of schedule files, in place of the job's setting");
  command->add_option("--hosts", arguments->hosts, "Names of the topology's hosts, in place of the job's setting");
  command->add_option(
      "--allocation", arguments->allocation,
      "The job's hosts: a file with a name per line or a list a,b; otherwise those of Slurm, PBS or LSF");
  command->add_option("--ranks", arguments->ranks, "Ranks of the job; otherwise one on each host")
      ->check(CLI::Range(1, 1 << 24));
  command->footer(
      "Looks at the Open MPI in PATH, the component in it, and the settings that a job started here would have.\n"
      "Exit status 1 when something is wrong; each fault comes with what to do.");
  command->callback([arguments, &session] { run_doctor(*arguments, session); });
}

}  // namespace colltopo::cli
