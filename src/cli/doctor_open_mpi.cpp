// Of `colltopo doctor`: Open MPI and the component in it. Open MPI is asked by its own ompi_info, which loads
// components as a job does; this process links no MPI.
#include "base/lines.h"
#include "base/read_file.h"
#include "cli/doctor.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace colltopo::cli {

namespace {

namespace files = std::filesystem;

constexpr const char* k_component = "mca_coll_topo.so";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

std::string found_in_path(const std::string& program) {
  for (const std::string& folder : split(variable("PATH"), ':'))
    if (std::string path = fmt::format("{}/{}", folder, program);
        access(path.c_str(), X_OK) == 0 && !files::is_directory(path))
      return path;
  return "";
}

std::vector<std::string> lines_of_command(const std::string& command) {
  std::string text;
  // What is preloaded is for programs of MPI.
  if (std::FILE* const pipe = popen(("env -u LD_PRELOAD " + command + " 2>&1").c_str(), "r"); pipe != nullptr) {
    std::array<char, 4096> part;
    for (std::size_t bytes; (bytes = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
      text.append(part.data(), bytes);
    pclose(pipe);
  }
  return split(text, '\n');
}

std::string shell_quoted(const std::string& path) {
  std::string text = "'";
  for (const char letter : path) text += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return text + "'";
}

std::string unquoted(std::string value) {
  std::erase(value, '"');
  return value;
}

// "a:b:param:NAME:value:VALUE" and "mca:coll:NAME:version:"component:4.1.4""; all else but data is a complaint.
void read_line(const std::string& line, OpenMpi& here) {
  const auto after = [&](const std::string& words) {
    const std::size_t at = line.find(words);
    return at == std::string::npos ? std::string() : unquoted(line.substr(at + words.size()));
  };
  if (line.starts_with("ompi:version:full:")) here.version = after("full:");
  if (line.starts_with("path:pkglibdir:")) here.component_folder = after("pkglibdir:");
  if (line.starts_with("mca:")) {
    if (line.starts_with("mca:coll:") && line.find(":version:\"component:") != std::string::npos)
      here.coll[line.substr(9, line.find(':', 9) - 9)] = after(":version:\"component:");
    const std::size_t name = line.find(":param:"), value = line.find(":value:");
    if (name != std::string::npos && value != std::string::npos && line.find(":enumerator:") == std::string::npos)
      here.parameters.emplace(line.substr(name + 7, value - name - 7), after(":value:"));
  } else if (line.find("coll_topo") != std::string::npos || line.find("coll/topo") != std::string::npos) {
    here.complaints.push_back(line);
  }
}

// The folders that Open MPI looks for components in, and whether one of them ends the search because it is not there.
std::vector<std::string> component_folders(const OpenMpi& open_mpi, const std::string& component_path) {
  std::vector<std::string> folders;
  for (const std::string& folder : split(component_path, ':'))
    if (folder != "USER_DEFAULT") folders.push_back(folder == "SYSTEM_DEFAULT" ? open_mpi.component_folder : folder);
  return folders;
}

// "built for Open MPI 4.1.4" stands in the component's file; empty where it does not.
std::string release_in(const std::string& path) {
  const std::string bytes = read_file_if_there(path, k_any_file).value_or("");
  constexpr std::string_view k_words = "built for Open MPI ";
  for (std::size_t at = bytes.find(k_words); at != std::string::npos; at = bytes.find(k_words, at + 1)) {
    const std::size_t begin = at + k_words.size(), end = bytes.find_first_not_of("0123456789.", begin);
    if (end > begin) return bytes.substr(begin, end - begin);
  }
  return "";
}

constexpr const char* k_build_for_it =
    "build colltopo with this Open MPI's mpicc (-DMPI_C_COMPILER=), or load the module of the other one";

// The component's file; empty, with a fault, where there is none.
std::string component_file(const OpenMpi& open_mpi, Findings& findings) {
  const std::vector<std::string> folders = component_folders(open_mpi, open_mpi.parameter("mca_base_component_path"));
  std::vector<std::string> looked;
  for (const std::string& folder : folders) {
    std::error_code none;
    if (!files::is_directory(folder, none)) {
      if (folder == folders.back()) continue;  // where users keep theirs
      findings.fault(
          "component",
          fmt::format("mca_base_component_path names {}, which does not exist; Open MPI looks no further", folder),
          "take the folder out of OMPI_MCA_mca_base_component_path, or out of openmpi-mca-params.conf");
      return "";
    }
    if (std::string path = folder + "/" + k_component; files::exists(path, none)) return path;
    looked.push_back(folder);
  }
  findings.fault("component", fmt::format("there is no {} in {}", k_component, fmt::join(looked, " or ")),
                 "source env.sh of the build folder, install colltopo, or set "
                 "OMPI_MCA_mca_base_component_path=SYSTEM_DEFAULT:FOLDER");
  return "";
}

// mpirun of Debian 13 gives its processes PMIx's folder of components for Open MPI's.
void examine_job_path(const OpenMpi& open_mpi, Findings& findings) {
  if (open_mpi.job_path.empty()) return;
  for (const std::string& folder : component_folders(open_mpi, open_mpi.job_path))
    if (std::error_code none; files::exists(folder + "/" + k_component, none)) return;
  findings.fault("component",
                 fmt::format("mpirun has its processes look for components in {} alone, where there is no {}",
                             open_mpi.job_path, k_component),
                 "export OMPI_MCA_mca_base_component_path=SYSTEM_DEFAULT");
}

void examine_selection(const OpenMpi& open_mpi, Findings& findings) {
  const std::string list = open_mpi.parameter("coll");
  const bool excludes = list.starts_with("^");
  const std::vector<std::string> names = split(excludes ? list.substr(1) : list, ',');
  const bool listed = std::ranges::find(names, "topo") != names.end();
  if (!list.empty() && listed == excludes) {
    findings.fault(
        "selection", fmt::format("the parameter coll is {}, which leaves coll/topo out", in_quotes(list)),
        excludes ? "unset OMPI_MCA_coll, or take topo out of the list" : "add topo to OMPI_MCA_coll, or unset it");
    return;
  }
  const auto priority = [&](const std::string& name) {
    const std::string text = open_mpi.parameter(fmt::format("coll_{}_priority", name));
    return text.empty() ? -1 : std::atoi(text.c_str());
  };
  const int own = priority("topo");
  if (own < 0) {
    findings.fault("selection", fmt::format("coll_topo_priority is {}, which turns coll/topo off", own),
                   "unset OMPI_MCA_coll_topo_priority");
    return;
  }
  // What han of 4.1 cannot do goes to whoever is above it, which is again coll/topo: the component stands back there.
  if (open_mpi.version.starts_with("4.1.") && priority("han") > std::max(0, priority("basic")) &&
      priority("han") < own) {
    findings.fault(
        "selection",
        fmt::format(
            "han has priority {} below topo's {}, where han of Open MPI 4.1 does not work: coll/topo leaves jobs "
            "on several nodes to it",
            priority("han"), own),
        "unset OMPI_MCA_coll_han_priority (0, its default), or raise it above coll/topo's");
    return;
  }
  std::vector<std::string> above, others;
  for (const auto& [name, release] : open_mpi.coll) {
    if (name == "topo" || (!list.empty() && !excludes && std::ranges::find(names, name) == names.end())) continue;
    // These serve other communicators (of one process, between two groups), or wrap whoever serves.
    const bool serves = name != "self" && name != "inter" && name != "monitoring" && name != "sync" &&
                        name != "accelerator" && name != "cuda";
    (serves && priority(name) >= own ? above : others).push_back(fmt::format("{} {}", name, priority(name)));
  }
  if (above.empty())
    findings.good("selection", fmt::format("topo {} is above {}", own, fmt::join(others, ", ")));
  else
    findings.fault("selection",
                   fmt::format("topo has priority {}, and {} is not below it", own, fmt::join(above, ", ")),
                   "raise OMPI_MCA_coll_topo_priority, or lower the other");
}

void examine_devices(const OpenMpi& open_mpi, Findings& findings) {
  std::string framework = "none";
  for (const char* name : {"mpi_built_with_cuda_support", "opal_built_with_cuda_support"})
    if (open_mpi.parameter(name) == "true") framework = "CUDA";
  for (const char* name : {"cuda", "rocm", "ze"})
    if (!open_mpi.parameter(fmt::format("accelerator_{}_priority", name)).empty()) framework = name;
  findings.good("devices", framework == "none" ? "Open MPI is built without device memory"
                                               : fmt::format("Open MPI is built with {}", framework));
}

void examine_preloaded(Findings& findings) {
  const std::string preload = variable("LD_PRELOAD");
  std::string list = preload;
  std::ranges::replace(list, ':', ' ');
  for (const std::string& path : split(list, ' ')) {
    if (path.find("libcolltopo") == std::string::npos) continue;
    std::error_code none;
    if (!files::exists(path, none))
      findings.fault("shim", fmt::format("LD_PRELOAD names {}, which does not exist", path),
                     "name the file that colltopo installed, or unset LD_PRELOAD");
    else if (variable("COLLTOPO_DISABLE").empty() || variable("COLLTOPO_DISABLE") == "0")
      findings.good("shim", fmt::format("{} is preloaded", path));
    else
      findings.fault("shim", fmt::format("{} is preloaded, and COLLTOPO_DISABLE turns it off", path),
                     "unset COLLTOPO_DISABLE");
  }
}

}  // namespace

std::string OpenMpi::parameter(const std::string& name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? "" : found->second;
}

OpenMpi open_mpi_here() {
  OpenMpi here;
  here.program = found_in_path("ompi_info");
  if (here.program.empty()) return here;
  // What makes it say why a component does not load has changed its type: a truth value up to 4.1.
  const std::vector<std::string> version = lines_of_command(shell_quoted(here.program) + " --version");
  const bool before_5 = !version.empty() && version.front().find(" v4.") != std::string::npos;
  for (const std::string& line :
       lines_of_command(fmt::format("OMPI_MCA_mca_base_component_show_load_errors={} {} --parsable --all --level 9",
                                    before_5 ? "1" : "all", shell_quoted(here.program))))
    read_line(line, here);
  if (before_5) return here;
  constexpr std::string_view k_path = "OMPI_MCA_mca_base_component_path=";
  const std::string launcher = (files::path(here.program).parent_path() / "mpirun").string();
  for (const std::string& line : lines_of_command(fmt::format("timeout 20 {} -np 1 env", shell_quoted(launcher))))
    if (line.starts_with(k_path)) here.job_path = line.substr(k_path.size());
  return here;
}

void examine_open_mpi(const OpenMpi& open_mpi, Findings& findings) {
  examine_preloaded(findings);
  if (open_mpi.program.empty()) {
    findings.fault("open mpi", "there is no ompi_info in PATH",
                   "load Open MPI's module, or put its bin folder in PATH");
    return;
  }
  if (open_mpi.version.empty()) {
    findings.fault("open mpi", fmt::format("{} does not say its version", open_mpi.program),
                   fmt::format("run it: {} --parsable --all", open_mpi.program));
    return;
  }
  findings.good("open mpi", fmt::format("{} ({}), components in {}", open_mpi.version, open_mpi.program,
                                        open_mpi.component_folder));
  examine_devices(open_mpi, findings);
  const std::string file = component_file(open_mpi, findings);
  if (file.empty()) return;
  if (const std::string release = release_in(file); !release.empty() && release != open_mpi.version) {
    findings.fault("component",
                   fmt::format("{} is built for Open MPI {}, and this is {}", file, release, open_mpi.version),
                   k_build_for_it);
    return;
  }
  const auto loaded = open_mpi.coll.find("topo");
  if (loaded == open_mpi.coll.end()) {
    const std::string why = open_mpi.complaints.empty() ? "Open MPI does not say why" : open_mpi.complaints.front();
    findings.fault("component", fmt::format("{} does not load: {}", file, why),
                   "install what it names, or build colltopo again on this machine");
    return;
  }
  findings.good("component", fmt::format("{}, built for Open MPI {}", file, loaded->second));
  examine_job_path(open_mpi, findings);
  examine_selection(open_mpi, findings);
}

}  // namespace colltopo::cli
