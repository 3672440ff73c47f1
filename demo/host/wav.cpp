#include "wav.hpp"

#include <cstddef>
#include <fstream>
#include <vector>

namespace arena::host {
namespace {

constexpr std::uint32_t channels = 2;
constexpr std::uint32_t bytes_per_pair = channels * 2;

}  // namespace

std::array<std::uint8_t, 44> wav_header(std::uint32_t sample_pairs, std::uint32_t rate) {
    std::array<std::uint8_t, 44> header{};
    std::size_t at = 0;
    const auto text = [&](const char* four) {
        for (int i = 0; i < 4; ++i) header[at++] = static_cast<std::uint8_t>(four[i]);
    };
    const auto number = [&](std::uint32_t value, int bytes) {
        for (int i = 0; i < bytes; ++i) header[at++] = static_cast<std::uint8_t>(value >> (8 * i));
    };
    const std::uint32_t data_bytes = sample_pairs * bytes_per_pair;
    text("RIFF");
    number(36 + data_bytes, 4);
    text("WAVE");
    text("fmt ");
    number(16, 4);  // bytes of this chunk
    number(1, 2);   // PCM
    number(channels, 2);
    number(rate, 4);
    number(rate * bytes_per_pair, 4);
    number(bytes_per_pair, 2);
    number(16, 2);  // bits per sample
    text("data");
    number(data_bytes, 4);
    return header;
}

bool write_wav(const std::filesystem::path& file, std::span<const std::int16_t> interleaved,
               std::uint32_t rate) {
    const auto pairs = static_cast<std::uint32_t>(interleaved.size() / channels);
    const std::array<std::uint8_t, 44> header = wav_header(pairs, rate);
    std::vector<char> bytes(header.begin(), header.end());
    bytes.reserve(header.size() + interleaved.size() * 2);
    for (const std::int16_t sample : interleaved.first(std::size_t{pairs} * channels)) {
        bytes.push_back(static_cast<char>(sample & 0xff));
        bytes.push_back(static_cast<char>((sample >> 8) & 0xff));
    }
    std::ofstream out(file, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    return !out.fail();
}

}  // namespace arena::host
