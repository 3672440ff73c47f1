// A folder with the arena's modules, of which tests put other builds in place.
#pragma once

#include "host/game_code.hpp"
#include "scratch_folder.hpp"

#include <braid/reload/publish.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace arena {

namespace fs = std::filesystem;

/// Those of the build are there, unless it is made without.
class modules_folder {
public:
    explicit modules_folder(bool filled = true) {
        if (!filled) return;
        publish_build("game");
        publish_build("sound");
    }
    const fs::path& path() const { return folder_.path(); }
    fs::path file(const std::string& part) const { return folder_ / ("libarena_" + part + ".so"); }
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
    braid_test::scratch_folder folder_;
};

inline testing::AssertionResult says(const std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "no '" << part << "' in: " << text;
}

}  // namespace arena
