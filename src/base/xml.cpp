#include "base/xml.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/numbers.h"

namespace colltopo {

namespace {

struct DepthLimit : pugi::xml_tree_walker {
  bool for_each(pugi::xml_node& node) override {
    if (depth() < XmlDocument::k_deepest) return true;
    too_deep = node;
    return false;
  }
  pugi::xml_node too_deep;
};

}  // namespace

XmlDocument::XmlDocument(const TextFile& source, const char* root) : source_(source) {
  for (std::size_t at = 0; at < source.contents.size(); ++at)
    if (source.contents[at] == '\n') line_ends_.push_back(static_cast<std::ptrdiff_t>(at));
  // The buffer is taken as UTF-8, so offsets into it are those into the file.
  const pugi::xml_parse_result result =
      document_.load_buffer(source.contents.data(), source.contents.size(), pugi::parse_default, pugi::encoding_utf8);
  if (!result)
    throw source.error(line_at(result.offset),
                       fmt::format("{}; expected an XML document <{}>", result.description(), root));
  root_ = document_.document_element();
  if (std::string_view(root_.name()) != root)
    throw error(root_, fmt::format("element <{}>; expected <{}>", root_.name(), root));
  DepthLimit limit;
  document_.traverse(limit);
  if (limit.too_deep) throw error(limit.too_deep, fmt::format("elements are {} deep; expected fewer", k_deepest));
}

std::int64_t XmlDocument::line_at(std::ptrdiff_t offset) const {
  return std::lower_bound(line_ends_.begin(), line_ends_.end(), offset) - line_ends_.begin() + 1;
}

std::int64_t XmlDocument::line_of(pugi::xml_node node) const { return line_at(node.offset_debug()); }

std::string XmlDocument::text(pugi::xml_node node, const char* attribute) const {
  const std::string value = node.attribute(attribute).value();
  if (value.empty()) throw error(node, fmt::format("<{}> without {}; expected it to be given", node.name(), attribute));
  return value;
}

std::int64_t XmlDocument::whole(pugi::xml_node node, const char* attribute, std::int64_t otherwise) const {
  if (!node.attribute(attribute)) return otherwise;
  const std::string_view text = node.attribute(attribute).value();
  std::int64_t value = 0;
  if (!parse_number(text, value) || value < 0)
    throw error(node, fmt::format("{}={} of <{}>; expected a whole number of 0 or more", attribute, in_quotes(text),
                                  node.name()));
  return value;
}

bool has_xml_root(std::string_view contents, std::string_view root) {
  if (contents.starts_with("\xef\xbb\xbf")) contents.remove_prefix(3);  // a byte order mark
  const std::size_t begin = contents.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || contents[begin] != '<') return false;
  // The first "<" before a letter begins the root element: declarations, comments and types have <? or <!.
  for (std::size_t at = contents.find('<'); at != std::string_view::npos; at = contents.find('<', at + 1)) {
    const std::string_view rest = contents.substr(at + 1);
    if (rest.starts_with("!--")) {
      at = contents.find("-->", at);
      if (at == std::string_view::npos) return false;
    } else if (!rest.starts_with('?') && !rest.starts_with('!')) {
      return rest.substr(0, std::min(rest.find_first_of(" \t\r\n/>"), rest.size())) == root;
    }
  }
  return false;
}

}  // namespace colltopo
