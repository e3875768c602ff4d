// Whose a file is: what the user did not name counts only if nobody else could have written it.
#pragma once

#include <string>

namespace colltopo {

/// Why a file or folder that the user did not name may not count, to follow its path in a message; empty: it may.
///
/// It and the folder that it lies in belong to root or the effective user, and nobody else may write to them. Folders
/// above too, except that a sticky one such as /tmp may be anybody's to write, for what is ours in it stays ours. A
/// group may write if it is the owner's own: of the owner's name and without other members. Symbolic links are
/// followed; each must belong to one of the two. What is not there does not count, and the reason says so.
std::string distrust_of(const std::string& path);

/// The same where one more user is trusted: whoever owns the library that runs, for the folders installed with it.
std::string distrust_of(const std::string& path, unsigned also);

}  // namespace colltopo
