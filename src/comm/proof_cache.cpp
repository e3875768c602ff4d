#include "comm/proof_cache.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "base/read_file.h"
#include "base/replace_file.h"
#include "base/trusted_file.h"
#include "colltopo/verify.h"
#include "comm/constants.h"

namespace colltopo {

namespace {

constexpr FileKind k_proof_file{"a proof", 512};  // more than text_of() makes

/// Empty: there is no cache.
std::filesystem::path folder() {
  const std::string constants = default_constants_path();
  return constants.empty() ? std::filesystem::path() : std::filesystem::path(constants).parent_path() / "proofs";
}

/// All of a file, so that one that was cut off counts as none.
std::string text_of(const std::string& digest, const Proof& proof) {
  return fmt::format("colltopo proof 1\nverifier {}\nschedule {}\nproved {} {} {} {} {}\nend\n", k_verifier_version,
                     digest, int{proof.in_place}, int{proof.keeps_rank_order}, int{proof.same_on_all_ranks},
                     int{proof.stepped}, int{proof.independent});
}

}  // namespace

std::optional<Proof> remembered_proof(const std::string& digest) noexcept try {
  const std::filesystem::path folder = colltopo::folder();
  if (folder.empty()) return {};
  const std::filesystem::path path = folder / digest;
  if (!distrust_of(path.string()).empty()) return {};
  const std::optional<std::string> text = read_file_if_there(path.string(), k_proof_file);
  for (unsigned bits = 0; text && bits < 32; ++bits) {
    const Proof proof{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0, (bits & 16) != 0};
    if (*text == text_of(digest, proof)) return proof;
  }
  return {};
} catch (...) {
  return {};
}

void remember_proof(const std::string& digest, const Proof& proof) noexcept try {
  const std::filesystem::path folder = colltopo::folder();
  if (folder.empty()) return;
  if (std::filesystem::create_directories(folder))
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  replace_file((folder / digest).string(), text_of(digest, proof), FinalLink::replace);
} catch (...) {  // the next job proves it again
}

}  // namespace colltopo
