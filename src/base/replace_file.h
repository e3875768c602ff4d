// Writing a file whole: whoever reads it, now or after a crash, finds the old file or the new one.
//
// The bytes go to a draft in the same folder, `.NAME.XXXXXXXXXXXX.draft`, which is made anew (O_EXCL, O_NOFOLLOW),
// brought to disk and renamed. A draft whose writer was killed is removed by the next writer of that file after an
// hour.
#pragma once

#include <memory>
#include <ostream>
#include <string>
#include <string_view>

#include "colltopo/error.h"

namespace colltopo {

/// What becomes of a symbolic link at the end of a path. A link in a sticky folder that all may write to is followed
/// only if it belongs to the effective user or to the folder's owner.
enum class FinalLink {
  follow,  // a path that the user gave: the file that the link leads to is replaced
  replace  // a name that was read or that is ours: the link itself is
};

/// An output that comes piece by piece. Nothing is seen at the path before replace().
///
/// The new file has the old one's mode, owner and group as far as this process may give them. What is not a regular
/// file (a FIFO, a device, /dev/stdout) is written straight through. All errors are Error: place, fact, consequence.
class FileDraft {
 public:
  /// Throws where the path cannot be written: the old file may not be written to, the folder takes no new files.
  explicit FileDraft(const std::string& path, FinalLink link = FinalLink::follow);
  /// Removes a draft that was not put in place.
  ~FileDraft();
  FileDraft(const FileDraft&) = delete;
  FileDraft& operator=(const FileDraft&) = delete;

  /// Remembers the first error, which replace() throws.
  std::ostream& out();
  /// The same without a stream. Throws.
  void write(std::string_view bytes);
  /// Puts the draft in place, once, as the last thing. Throws; then the old file is as it was.
  void replace();

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

/// A file's new contents in one piece. Throws Error; then the old file is as it was.
void replace_file(const std::string& path, std::string_view bytes, FinalLink link = FinalLink::follow);

/// Whether a name that was read from a file may stand for one in a folder of ours: of letters, digits and "._-+=,@%",
/// not hidden, without a folder.
bool is_plain_file_name(std::string_view name);

}  // namespace colltopo
