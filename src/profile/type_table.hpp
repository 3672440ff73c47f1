#pragma once
// Names and places in the source become numbers. Threads look into a small table of their own
// first; the common one has a lock.

#include "braid/profile/capture.hpp"

#include <cstring>
#include <map>
#include <mutex>
#include <source_location>
#include <tuple>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// All types of a recorder. Any thread.
class type_table {
public:
    std::uint32_t intern(const char* name, const std::source_location& where);

    /// Calls f(type) for each from `first` on; returns how many there are.
    template <class F>
    std::uint32_t each_from(std::uint32_t first, F&& f) {
        const std::lock_guard lock(mutex_);
        for (; first < types_.size(); ++first) f(types_[first]);
        return first;
    }

private:
    std::mutex mutex_;
    std::vector<record_type> types_ = {{}};
    std::map<std::tuple<std::string, std::string, std::uint32_t>, std::uint32_t> numbers_;
};

/// One thread's.
class type_cache {
public:
    explicit type_cache(type_table& all) : all_(all) {}

    std::uint32_t number_of(const char* name, const std::source_location& where) {
        // A place without a line is none: files of the library itself are of no interest.
        if (name == nullptr && where.line() == 0) return 0;
        const char* const file = where.file_name();
        const auto hash = (reinterpret_cast<std::uintptr_t>(name) >> 2) ^
                          (reinterpret_cast<std::uintptr_t>(file) >> 3) ^ where.line() * 7U;
        row& r = rows_[hash % rows];
        const bool same = r.name == name && r.file == file && r.line == where.line();
        // The text there may be another one by now: of a buffer, or of a module that was loaded.
        if (same && (name == nullptr || std::strcmp(r.text.c_str(), name) == 0)) [[likely]]
            return r.number;
        r = {name, file, where.line(), all_.intern(name, where), name != nullptr ? name : ""};
        return r.number;
    }

private:
    static constexpr std::size_t rows = 256;
    struct row {
        const char* name = nullptr;
        const char* file = nullptr;
        std::uint32_t line = 0, number = 0;
        std::string text;
    };

    type_table& all_;
    row rows_[rows];
};

}  // namespace profile
BRAID_NAMESPACE_END
