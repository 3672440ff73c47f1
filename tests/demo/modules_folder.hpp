// A folder with the arena's modules, of which tests put other builds in place.
#pragma once

#include "host/game_code.hpp"

#include <braid/reload/publish.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace arena {

namespace fs = std::filesystem;

/// Those of the build are there, unless it is made without.
class modules_folder {
public:
    explicit modules_folder(bool filled = true) {
        std::string name = (fs::temp_directory_path() / "arena-test-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) std::abort();
        path_ = name;
        if (!filled) return;
        publish_build("game");
        publish_build("sound");
    }
    ~modules_folder() { fs::remove_all(path_); }
    modules_folder(const modules_folder&) = delete;
    modules_folder& operator=(const modules_folder&) = delete;

    const fs::path& path() const { return path_; }
    fs::path file(const std::string& part) const { return path_ / ("libarena_" + part + ".so"); }
    void publish_build(const std::string& part) {
        publish(host::game_code::default_folder() / ("libarena_" + part + ".so"), part);
    }
    /// As if somebody had edited the source and built: see CMakeLists.txt.
    void publish_edited(const std::string& name, const std::string& part) {
        publish(fs::path(ARENA_EDITED) / (name + ".so"), part);
    }

private:
    void publish(const fs::path& from, const std::string& part) {
        const braid::status went = braid::reload::publish(from, file(part));
        ASSERT_TRUE(went) << went.text;
    }
    fs::path path_;
};

inline testing::AssertionResult says(const std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no '" << part << "' in: " << text;
}

}  // namespace arena
