#pragma once
// The file that is read, whose bytes say where they stand.

#include "driver.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <string>

namespace bench::stream {

constexpr std::size_t file_bytes = std::size_t{128} << 20, page_bytes = 4096;

/// The word at that offset.
constexpr std::uint64_t word_at(std::uint64_t offset) {
    return offset * 6364136223846793005U + 1442695040888963407U;
}

/// Where the n-th read of so many bytes begins: at a page, and nowhere near the one before.
inline std::uint64_t place_of(std::size_t n, std::size_t bytes) {
    const std::uint64_t places = (file_bytes - bytes) / page_bytes + 1;
    return (multiply_on(n, 3) >> 20) % places * page_bytes;
}

/// Whether each word is the one at its place.
bool is_right(std::span<const std::byte> seen, std::uint64_t offset);
/// Throws wrong_answer where a word is not.
void check_all(std::span<const std::byte> seen, std::uint64_t offset);
/// Looks at one word of each page, which is next to nothing beside reading it.
void check_pages(std::span<const std::byte> seen, std::uint64_t offset);

/// In the folder for temporary files, written through to the device; its pages are in the system's
/// cache, too. It has no name any more, so nothing is left however the program ends.
class pattern_file {
public:
    /// Throws not_here where it cannot be written.
    pattern_file();
    ~pattern_file();
    pattern_file(const pattern_file&) = delete;
    pattern_file& operator=(const pattern_file&) = delete;

    int descriptor() const { return descriptor_; }
    /// To open it again, as long as this lives.
    std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

private:
    int descriptor_;
};

/// The one of all rows, written by the first that needs it.
class shared_file {
public:
    std::shared_ptr<const pattern_file> get() {
        if (file_ == nullptr) file_ = std::make_shared<const pattern_file>();
        return file_;
    }

private:
    std::shared_ptr<const pattern_file> file_;
};

/// Buffers of whole pages, which direct reads ask for.
class buffers {
public:
    buffers(std::size_t count, std::size_t bytes);
    std::span<std::byte> operator[](std::size_t i) const { return {all_.get() + i * each_, each_}; }

private:
    struct give_back {
        void operator()(std::byte* all) const { ::operator delete[](all, alignment); }
    };
    static constexpr std::align_val_t alignment{page_bytes};
    std::size_t each_;
    std::unique_ptr<std::byte[], give_back> all_;
};

}  // namespace bench::stream
