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

    record_type at(std::uint32_t number) const {
        const std::lock_guard lock(mutex_);
        return number < types_.size() ? types_[number] : record_type{};
    }
    /// Calls f(type) for each from `first` on; returns how many there are.
    template <class F>
    std::uint32_t each_from(std::uint32_t first, F&& f) {
        const std::lock_guard lock(mutex_);
        for (; first < types_.size(); ++first) f(types_[first]);
        return first;
    }

private:
    mutable std::mutex mutex_;
    std::vector<record_type> types_ = {{}};
    std::map<std::tuple<std::string, std::string, std::uint32_t>, std::uint32_t> numbers_;
};

/// One thread's.
class type_cache {
public:
    explicit type_cache(type_table& all) : all_(all) {}

    /// Without a place in the source.
    std::uint32_t number_of(const char* name) {
        if (name == nullptr) return 0;
        row& r = rows_[hash_of(name) % rows];
        const bool same = r.name == name && r.file == nullptr && has_text(r, name);
        return same ? r.number : fill(r, name, nullptr, {});
    }
    std::uint32_t number_of(const char* name, const std::source_location& where) {
        // A place without a line is none: files of the library itself are of no interest.
        if (where.line() == 0) return number_of(name);
        const char* const file = where.file_name();
        row& r = rows_[(hash_of(name) ^ hash_of(file) ^ where.line() * 7U) % rows];
        const bool same = r.name == name && r.file == file && r.line == where.line() &&
                          (name == nullptr || has_text(r, name));
        return same ? r.number : fill(r, name, file, where);
    }

private:
    static constexpr std::size_t rows = 256;
    struct row {
        const char* name = nullptr;
        const char* file = nullptr;
        std::uint32_t line = 0, number = 0;
        std::string text;
    };
    static std::size_t hash_of(const char* p) { return reinterpret_cast<std::uintptr_t>(p) >> 2; }
    /// The text there may be another one by now: of a buffer, or of a module that was loaded.
    static bool has_text(const row& r, const char* name) {
        return std::strcmp(r.text.c_str(), name) == 0;
    }
    [[gnu::noinline]] std::uint32_t fill(row& r, const char* name, const char* file,
                                         const std::source_location& where) {
        r = {name, file, where.line(), all_.intern(name, where), name != nullptr ? name : ""};
        return r.number;
    }

    type_table& all_;
    row rows_[rows];
};

}  // namespace profile
BRAID_NAMESPACE_END
