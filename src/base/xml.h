// An XML document and the lines of its elements. Only the readers of XML formats include this.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pugixml.hpp>

#include "base/lines.h"

namespace colltopo {

class XmlDocument {
 public:
  /// Throws Error at the place of a syntax error or when the root element is another.
  XmlDocument(const TextFile& source, const char* root);

  pugi::xml_node root() const { return root_; }
  std::int64_t line_of(pugi::xml_node node) const;
  Error error(pugi::xml_node at, std::string_view what) const { return source_.error(line_of(at), what); }

  /// An attribute that must be there and not empty.
  std::string text(pugi::xml_node node, const char* attribute) const;
  /// A whole number of 0 or more; `otherwise` when there is no such attribute.
  std::int64_t whole(pugi::xml_node node, const char* attribute, std::int64_t otherwise) const;

  /// Elements inside elements deeper than this are refused, so that walks may recurse.
  static constexpr int k_deepest = 200;

 private:
  std::int64_t line_at(std::ptrdiff_t offset) const;

  const TextFile& source_;
  pugi::xml_document document_;
  pugi::xml_node root_;
  std::vector<std::ptrdiff_t> line_ends_;
};

/// Whether the contents are XML with this root element, as far as their beginning tells.
bool has_xml_root(std::string_view contents, std::string_view root);

}  // namespace colltopo
