// Reads one of the arena's models with Assimp. Runs in a child process only: the files are not to
// be trusted, nor is what parses them.
#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace arena::import {

/// Names below the folder of models of what the arena needs; each is imported on its own.
inline constexpr const char* model_files[] = {"X/Testwuson.X", "X/BCN_Epileptic.X", "BVH/01_01.bvh",
                                              "BVH/Boxing_Toes.bvh"};

/// The flat block of `file`. Throws std::runtime_error with half a sentence when it is no use.
std::vector<std::byte> import_model(const std::filesystem::path& file);

}  // namespace arena::import
