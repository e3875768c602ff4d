#include "comm/build_id.h"

#include <link.h>

#include <cstring>
#include <string>

#include "colltopo/algorithms.h"
#include "comm/agreement.h"

namespace colltopo {

namespace {

std::size_t padded(std::size_t bytes) { return (bytes + 3) / 4 * 4; }

/// The bytes of a GNU build id among notes; empty when there is none.
std::string build_id_in(const char* notes, std::size_t bytes) {
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof note);
    const std::size_t name = sizeof note, description = name + padded(note.n_namesz);
    const std::size_t end = description + padded(note.n_descsz);
    if (end > bytes) return "";
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0)
      return {notes + description, note.n_descsz};
    notes += end;
    bytes -= end;
  }
  return "";
}

/// Of the object that holds `address`.
struct Search {
  ElfW(Addr) address;
  std::string id;
};

int look_into(dl_phdr_info* object, std::size_t, void* context) {
  auto& search = *static_cast<Search*>(context);
  bool holds = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    const ElfW(Addr) first = object->dlpi_addr + part.p_vaddr;
    holds = holds || (part.p_type == PT_LOAD && search.address >= first && search.address < first + part.p_memsz);
  }
  if (!holds) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type == PT_NOTE && search.id.empty())
      search.id = build_id_in(reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr), part.p_memsz);
  }
  return 1;
}

}  // namespace

long long build_checksum() {
  static const long long checksum = [] {
    Search search{reinterpret_cast<ElfW(Addr)>(&build_checksum), {}};
    dl_iterate_phdr(look_into, &search);
    std::string text = COLLTOPO_VERSION + search.id;
    for (const Algorithm& algorithm : algorithms()) text += algorithm.name;
    return checksum_of(text);
  }();
  return checksum;
}

}  // namespace colltopo
