// Imports models in child processes under limits of time and memory, so that no file can take the
// host down: what comes back through the pipe is checked before anyone reads it.
#pragma once

#include "../../game/aligned_array.hpp"

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

namespace arena::import {

/// One clear sentence for the user.
struct import_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What a test makes the child do instead of importing.
inline constexpr const char* import_faults[] = {"crash",  "hang",    "silent",
                                                "memory", "garbage", "cut"};

struct import_options {
    std::string fault;  // one of import_faults, or empty
    int seconds = 20;   // wall clock and processor time
};

/// The blocks of `files`, each imported by its own child, all at once. Throws import_error for the
/// first that cannot be had.
std::vector<aligned_array<std::byte>> import_models(const std::vector<std::filesystem::path>& files,
                                                    const import_options& options);

/// The child's side: imports `file`, writes the block to `descriptor`; the exit status.
int run_import_child(const std::filesystem::path& file, const std::string& fault, int descriptor);

}  // namespace arena::import
