// What the command line asks for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace arena::host {

struct options {
    bool headless = false;
    bool compare = false;      // every backend in one run
    std::uint32_t frames = 0;  // 0: 300 without a window, endless with one
    std::uint64_t seed = 1;
    unsigned workers = 0;
    std::uint32_t characters = 1000;
    std::uint32_t width = 1280, height = 720;
    std::string backend;
    std::filesystem::path models;
    std::filesystem::path out;

    // For the child process that imports a model, and for tests.
    std::filesystem::path import_model;
    std::string import_fault;
    int import_seconds = 20;
};

/// Threads that this process may use at once, at least 1.
unsigned usable_cores();

}  // namespace arena::host
