// What the command line asks for.
#pragma once

#include <braid/core/scheduler_options.hpp>
#include <braid/profile/recorder.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace arena::host {

class all_assets;
class made_assets;

/// How assets come from a pack. Texts are checked by who reads them.
struct stream_options {
    bool wanted = false;
    std::string back_end;  // "uring", "threads", "automatic"
    std::string faults;    // "seed=7,eio=0.01,delay=5"
    std::uint32_t resident_mib = 16;
    std::filesystem::path pack;
    const all_assets* all = nullptr;
};

/// How Braid runs the frames of the game.
struct frame_options {
    unsigned pipeline = 0;     // frames that may begin before this one is over
    std::string serial_stage;  // a phase or a row of the table that runs on one thread
    bool dynamic_priorities = false;
    bool shadow_jobs = false;  // skinning and the light on the floor as a job list
    std::string device;        // what runs stages that state their work as data; "": the cores
    stream_options stream;
    std::filesystem::path capture;                 // empty: no file is recorded
    braid::profile::capture_sink* live = nullptr;  // gets what is recorded, too
};

/// As many as Braid runs, so that every backend runs what is asked for, and what is printed is so.
inline constexpr auto max_workers = unsigned{braid::scheduler_options::most_workers};

struct options {
    bool headless = false;
    bool compare = false;      // every backend in one run
    bool live = false;         // a browser may watch
    std::uint32_t frames = 0;  // 0: 300 without a window, endless with one
    std::uint64_t seed = 1;
    unsigned workers = 0;
    std::uint32_t characters = 1000;
    std::uint32_t width = 1280, height = 720;
    std::string backend;
    frame_options frames_in;
    std::filesystem::path models;
    std::filesystem::path modules;  // folder with the code of the game and its sound
    bool watch = false;             // load that code anew when it changes
    unsigned fps = 0;               // frames a second off screen; 0: as fast as they go
    made_assets* assets = nullptr;  // for those who stream none; null: there are none
    std::string self_edit;          // "": the code stays; "all" or "layout": self_edit.hpp
    std::filesystem::path out;

    // For the child process that imports a model, and for tests.
    std::filesystem::path import_model;
    std::string import_fault;
    int import_seconds = 20;
};

/// Threads that this process may use at once, at least 1.
unsigned usable_cores();

}  // namespace arena::host
