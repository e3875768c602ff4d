// colltopo: makes, proves, prices and draws schedules of collectives. One file per subcommand.
#include <cstdio>
#include <exception>
#include <iostream>
#include <new>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/plain.h"
#include "cli/command.h"
#include "cli/launch.h"
#include "colltopo/error.h"

namespace {

using namespace colltopo::cli;
using colltopo::plain_lines;

constexpr const char* k_about =
    "Schedules of MPI collectives for a network: make them, prove them right, price them, draw them.";

constexpr const char* k_first_steps = R"(First steps:
  colltopo topology torus:4x4                          what a network is like
  colltopo bound alltoall torus:4x4                    what no schedule can beat on it
  colltopo generate swing torus:4x4 -o swing.sched     a schedule for it, proved before it is written
  colltopo draw swing.sched -o swing.svg               a picture of every step
  colltopo verify swing.sched                          the proof again
  colltopo cost swing.sched torus:4x4 --bytes 64K,1M   its time on the network, and the bound
  colltopo explain alltoall --ranks 64 --bytes 1K      what coll/topo would run, and why
  colltopo prepare torus:4x4 -o prepared                everything that a network needs, in one folder
  colltopo simulate swing torus:64x64                   its steps and links at scale
  colltopo doctor                                      whether coll/topo works here, and what to do

`colltopo COMMAND --help` says more; so do `man colltopo` and docs/command.md.
Exit status: 0 good, 1 what was examined is wrong, 2 usage or unreadable input.)";

int report_failure(const Session& session, const std::string& what) {
  // mpirun ends all processes when the first one fails, which must not be before the one that speaks has spoken.
  if (session.silent) return k_good;
  if (session.json) std::cout << json_text({{"error", what}});
  std::cerr << "colltopo: " << plain_lines(what) << '\n';
  return k_usage;
}

int report_no_memory(const Session& session) {
  return report_failure(session, "out of memory; choose a smaller topology, or --parametric");
}

int run(int argc, char** argv) {
  Session session;
  // Equal processes under mpirun find the same fault: the first one says so.
  session.silent = argc > 1 && std::string_view(argv[1]) == "generate" && launch().rank > 0;
  CLI::App app(k_about, "colltopo");
  app.footer(k_first_steps);
  app.set_version_flag("--version", std::string("colltopo ") + COLLTOPO_VERSION);
  app.require_subcommand(1);
  app.get_formatter()->column_width(34);
#if CLI11_VERSION_MAJOR > 2 || (CLI11_VERSION_MAJOR == 2 && CLI11_VERSION_MINOR >= 5)
  app.get_formatter()->enable_footer_formatting(false);  // footers have lines of their own
#endif
  add_topology(app, session);
  add_bound(app, session);
  add_generate(app, session);
  add_verify(app, session);
  add_draw(app, session);
  add_routes(app, session);
  add_others(app, session);
  try {
    app.parse(argc, argv);
    end_output();
  } catch (const CLI::ParseError& error) {
    std::ostringstream unsaid;
    if (error.get_exit_code() != 0) return report_failure(session, error.what());
    app.exit(error, session.silent ? unsaid : std::cout, unsaid);  // --help and --version
    return std::cout.flush() ? k_good : report_failure(session, "standard output: cannot be written");
  } catch (const std::bad_alloc&) {
    return report_no_memory(session);
  } catch (const std::system_error& error) {
    const bool has_no_thread = error.code() == std::errc::resource_unavailable_try_again;
    return has_no_thread ? report_no_memory(session) : report_failure(session, error.what());
  } catch (const std::exception& error) {
    return report_failure(session, error.what());
  }
  return session.status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {  // outside of commands, or while that was to be said
    std::fputs("colltopo: out of memory; choose a smaller topology, or --parametric\n", stderr);
    return k_usage;
  }
}
