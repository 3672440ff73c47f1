#include "braid/async/file.hpp"

#include "base/platform/files.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN

file::file(std::string path, const file_open_options& options) : path_(std::move(path)) {
    descriptor_ = platform::open_to_read(path_.c_str(), options.direct);
    error_.clear();
    if (descriptor_ >= 0) {
        if (options.direct) alignment_ = platform::direct_alignment(descriptor_);
        return;
    }
    char words[128];
    platform::words_of_error(-descriptor_, words, sizeof words);
    descriptor_ = -1;
    error_ = path_ + ": " + words;
}

file::~file() {
    if (descriptor_ >= 0) platform::close_file(descriptor_);
}

std::uint64_t file::size() const {
    if (descriptor_ < 0) return 0;
    return static_cast<std::uint64_t>(
        std::max<std::int64_t>(platform::size_of_file(descriptor_), 0));
}

BRAID_NAMESPACE_END
