#include "cli/loads_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include <fmt/format.h>

#include "base/lines.h"
#include "cli/command.h"
#include "colltopo/error.h"

namespace colltopo::cli {

namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, ',');) {
    const auto first = cell.find_first_not_of(" \t\r");
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(" \t\r") + 1 - first));
  }
  return cells;
}

struct Columns {
  std::size_t link = 0, tail = 0, head = 0, load = 0;
  bool bytes = false;
};

class LoadsFile {
 public:
  LoadsFile(std::string name, const Topology& topology) : name_(std::move(name)), topology_(topology) {}

  FiledLoads read(const std::string& contents) {
    std::istringstream in(contents);
    std::string line;
    while (std::getline(in, line) && (line.empty() || line.front() == '#')) ++number_;
    ++number_;
    const Columns columns = columns_of(cells_of(line));
    FiledLoads filed{std::vector<double>(topology_.links().size(), 0), {}};
    if (columns.bytes) filed.scale = {.unit = "MB", .unit_size = 1e6};
    while (std::getline(in, line)) {
      ++number_;
      if (!line.empty() && line.front() != '#') add(cells_of(line), columns, filed.loads);
    }
    return filed;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error(fmt::format("{}:{}: {}", name_, number_, what)); }

  Columns columns_of(const std::vector<std::string>& names) const {
    const auto place_of = [&](const char* name) {
      return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    };
    Columns columns{place_of("link"), place_of("tail"), place_of("head"), place_of("load")};
    columns.bytes = columns.load == names.size();
    if (columns.bytes) columns.load = place_of("bytes");
    if (std::max({columns.link, columns.tail, columns.head, columns.load}) == names.size())
      fail("expected a line that names the columns: link, tail, head, and load or bytes");
    return columns;
  }

  double number_in(const std::vector<std::string>& cells, std::size_t column) const {
    double value = 0;
    const std::string& cell = column < cells.size() ? cells[column] : "";
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc() || end != cell.data() + cell.size() || !std::isfinite(value) || value < 0)
      fail(fmt::format("{} in column {}; expected a number from 0", in_quotes(cell), column + 1));
    return value;
  }

  void add(const std::vector<std::string>& cells, const Columns& columns, std::vector<double>& loads) const {
    const double link = number_in(cells, columns.link);
    if (link >= static_cast<double>(loads.size()))
      fail(fmt::format("link {}; {} has {} links", link, topology_.name(), loads.size()));
    const Link& there = topology_.links()[static_cast<std::size_t>(link)];
    if (number_in(cells, columns.tail) != there.tail || number_in(cells, columns.head) != there.head)
      fail(fmt::format("link {} of {} goes from {} to {}; the file is of another topology", link, topology_.name(),
                       there.tail, there.head));
    loads[static_cast<std::size_t>(link)] += number_in(cells, columns.load);
  }

  std::string name_;
  const Topology& topology_;
  int number_ = 0;  // of the line
};

}  // namespace

FiledLoads loads_in_file(const std::string& path, const Topology& topology) {
  return LoadsFile(input_name(path), topology).read(file_contents(path));
}

}  // namespace colltopo::cli
