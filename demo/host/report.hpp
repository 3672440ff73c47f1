// What a run leaves behind: tables on the terminal, a picture, sound, a timeline and a summary.
#pragma once

#include "contender.hpp"

#include <filesystem>

namespace arena::host {

/// The first frame in which two contenders differ, counted from 1; 0: none.
std::size_t first_difference(const contenders& all);

/// Each stage and the frame of `serial` and `parallel` side by side.
void print_stage_table(const contender& serial, const contender& parallel);
/// One row for each backend.
void print_backend_table(const contenders& all);

/// Where write_reports() will write. Throws std::runtime_error with one sentence, before a frame
/// runs in vain.
void make_out_folder(const options& wish);
/// Throws std::runtime_error with one sentence when a file cannot be written.
void write_reports(const options& wish, const model_blocks& models, const contenders& all);
void write_png(const std::filesystem::path& file, const renderer& picture);
void write_timeline(const std::filesystem::path& file, std::span<const stage> table,
                    const kept_frame& frame, const std::string& title);

}  // namespace arena::host
