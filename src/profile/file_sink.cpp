// A capture goes to a file as it grows.
#include "braid/profile/sinks.hpp"

#include <cerrno>
#include <system_error>

BRAID_NAMESPACE_BEGIN
namespace profile {

file_sink::file_sink() = default;
file_sink::~file_sink() { static_cast<void>(close()); }

status file_sink::open(const std::string& path) {
    path_ = path;
    error_ = 0;
    file_ = std::fopen(path.c_str(), "wb");
    if (file_ != nullptr) {
        // Chunks are large; and a child of a fork has nothing to write a second time.
        std::setvbuf(file_, nullptr, _IONBF, 0);
        return {};
    }
    return {errno, "cannot write '" + path + "': " + std::generic_category().message(errno)};
}

bool file_sink::take(std::span<const std::byte> chunks) {
    if (error_ == 0 && std::fwrite(chunks.data(), 1, chunks.size(), file_) != chunks.size()) {
        error_ = errno;
    }
    return error_ == 0;
}

status file_sink::close() {
    if (file_ == nullptr) return {};
    if (std::fclose(file_) != 0 && error_ == 0) error_ = errno;
    file_ = nullptr;
    if (error_ == 0) return {};
    return {error_, "cannot write '" + path_ + "': " + std::generic_category().message(error_)};
}

}  // namespace profile
BRAID_NAMESPACE_END
