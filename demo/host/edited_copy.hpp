// A copy of the game's source that is edited and built while the game runs, as its author would do
// it: with the commands of this program's own build.
#pragma once

#include <filesystem>
#include <set>
#include <string>

namespace arena::host {

class edited_copy {
public:
    /// Copies the source to `folder`/game; an older copy is removed. Throws std::runtime_error:
    /// there is no source, or it is not known how it was built.
    explicit edited_copy(const std::filesystem::path& folder);

    /// Puts `to` in the place of `from`, which stands in that file once; or throws
    /// std::runtime_error.
    void replace(const std::string& file, const std::string& from, const std::string& to);

    /// Compiles what the edits since the last build concern, and links `folder`/`name`. Throws
    /// std::runtime_error with what the compiler says.
    std::filesystem::path build(const std::string& name);

private:
    void compile();

    std::filesystem::path folder_, source_, objects_;
    bool all_ = true;               // is to be compiled, because a header was edited
    std::set<std::string> edited_;  // sources
};

}  // namespace arena::host
