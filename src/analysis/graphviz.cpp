// Graphviz as a program: it reads the graph from a file and writes the nodes' places, so nothing of it is linked.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <sstream>

#include <fmt/format.h>
#include <unistd.h>

#include "analysis/layout_topology.h"
#include "base/lines.h"

namespace colltopo::drawing {

namespace {

constexpr NodeId k_most_by_springs = 150;  // nodes; neato takes time by their square, sfdp does not
constexpr double k_points_per_inch = 72;

/// A file that is gone when the program goes on.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& contents) {
    const char* const folder = std::getenv("TMPDIR");
    path_ = fmt::format("{}/colltopo-XXXXXX", folder != nullptr && *folder != '\0' ? folder : "/tmp");
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) return;
    if (std::FILE* const file = fdopen(descriptor, "w")) {
      written_ = std::fwrite(contents.data(), 1, contents.size(), file) == contents.size();
      written_ = std::fclose(file) == 0 && written_;
    } else {
      close(descriptor);
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { unlink(path_.c_str()); }

  bool written() const { return written_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool written_ = false;
};

std::string undirected_graph(const Topology& topology) {
  std::string graph = "strict graph {\n  start=1; overlap=scale; node [shape=circle, width=0.6, fixedsize=true];\n";
  for (NodeId node = 0; node < topology.nodes(); ++node) graph += fmt::format("  {};\n", node);
  for (const Link& link : topology.links()) graph += fmt::format("  {} -- {};\n", link.tail, link.head);
  return graph + "}\n";
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  if (!pipe) return output;
  char part[4096];
  while (const std::size_t size = std::fread(part, 1, sizeof part, pipe.get())) output.append(part, size);
  return output;
}

}  // namespace

bool place_by_graphviz(const Topology& topology, std::vector<Point>& places) {
  const TemporaryFile graph(undirected_graph(topology));
  if (!graph.written()) return false;
  const char* const program = topology.nodes() <= k_most_by_springs ? "neato" : "sfdp";
  std::istringstream plain(output_of(fmt::format("{} -Tplain {} 2>/dev/null", program, for_shell(graph.path()))));

  // "node NAME X Y ..." with inches from the lower left.
  places.assign(static_cast<std::size_t>(topology.nodes()), {});
  NodeId placed = 0;
  for (std::string line; std::getline(plain, line);) {
    std::istringstream words(line);
    std::string kind;
    NodeId node = -1;
    Point place;
    if (!(words >> kind) || kind != "node") continue;
    if (!(words >> node >> place.x >> place.y) || node < 0 || node >= topology.nodes()) return false;
    places[static_cast<std::size_t>(node)] = {k_points_per_inch * place.x, -k_points_per_inch * place.y};
    ++placed;
  }
  return placed == topology.nodes();
}

}  // namespace colltopo::drawing
