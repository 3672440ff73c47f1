#pragma once
// RIFF/WAVE, 16-bit PCM, stereo.

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>

namespace arena::host {

/// The 44 bytes before the samples; `sample_pairs` pairs (left, right) follow.
std::array<std::uint8_t, 44> wav_header(std::uint32_t sample_pairs, std::uint32_t rate);

/// Writes interleaved samples; false when the file cannot be written completely.
bool write_wav(const std::filesystem::path& file, std::span<const std::int16_t> interleaved,
               std::uint32_t rate);

}  // namespace arena::host
