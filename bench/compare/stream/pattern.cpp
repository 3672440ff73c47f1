#include "stream/pattern.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

namespace bench::stream {
namespace {

bool is_word(const std::byte* seen, std::uint64_t offset) {
    std::uint64_t word = 0;
    std::memcpy(&word, seen, sizeof word);
    return word == word_at(offset);
}

[[noreturn]] void refuse(std::uint64_t offset) {
    throw wrong_answer("other bytes than the file has at " + std::to_string(offset));
}

int made_without_name() {
    std::string name = (std::filesystem::temp_directory_path() / "stream-XXXXXX").string();
    const int descriptor = mkstemp(name.data());
    if (descriptor >= 0) unlink(name.c_str());
    return descriptor;
}

bool write_pattern(int descriptor) {
    std::vector<std::uint64_t> part((std::size_t{1} << 20) / sizeof(std::uint64_t));
    std::uint64_t offset = 0;
    while (offset < file_bytes) {
        for (std::uint64_t& word : part) {
            word = word_at(offset);
            offset += sizeof word;
        }
        const std::size_t bytes = part.size() * sizeof part[0];
        if (write(descriptor, part.data(), bytes) != static_cast<ssize_t>(bytes)) return false;
    }
    return fsync(descriptor) == 0;
}

}  // namespace

bool is_right(std::span<const std::byte> seen, std::uint64_t offset) {
    for (std::size_t at = 0; at < seen.size(); at += sizeof(std::uint64_t)) {
        if (!is_word(&seen[at], offset + at)) return false;
    }
    return true;
}

void check_all(std::span<const std::byte> seen, std::uint64_t offset) {
    if (!is_right(seen, offset)) refuse(offset);
}

void check_pages(std::span<const std::byte> seen, std::uint64_t offset) {
    for (std::size_t at = 0; at < seen.size(); at += page_bytes) {
        if (!is_word(&seen[at], offset + at)) refuse(offset);
    }
}

pattern_file::pattern_file() : descriptor_(made_without_name()) {
    if (descriptor_ >= 0 && write_pattern(descriptor_)) return;
    const std::string why = std::generic_category().message(errno);
    if (descriptor_ >= 0) close(descriptor_);
    throw not_here("there is no file of " + std::to_string(file_bytes >> 20) +
                   " MB in the folder for temporary files: " + why);
}

pattern_file::~pattern_file() { close(descriptor_); }

buffers::buffers(std::size_t count, std::size_t bytes)
    : each_(bytes), all_(static_cast<std::byte*>(::operator new[](count* bytes, alignment))) {
    std::memset(all_.get(), 0, count * bytes);
}

}  // namespace bench::stream
