#pragma once
// Names and places in the source for Tracy, which reads them whenever its viewer asks: they are
// never freed and never change.

#include "braid/base/policy.hpp"
#include "profile/own_header.hpp"

#include <tracy/TracyC.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <source_location>

BRAID_NAMESPACE_BEGIN
namespace profile {

struct tracy_place {
    ___tracy_source_location_data body;
    ___tracy_source_location_data part;  // of a join
    const tracy_place* next;
};

/// Lists that only grow, one for each hash. It has no destructor: Tracy reads to the very end.
class tracy_place_table {
public:
    /// The same place for the same texts; a null name: Tracy shows the function. Null: no memory.
    /// Any thread. Texts that were seen before cost neither a lock nor an allocation.
    const tracy_place* of(const char* name, const std::source_location& where) {
        const texts wanted(name, where);
        atomic<const tracy_place*>& row = rows_[wanted.hash() % rows];
        // acquire: pairs with the release below; the place is written.
        const tracy_place* first = row.load(acquire);
        const tracy_place* looked_at = nullptr;
        tracy_place* made = nullptr;
        while (true) {
            for (const tracy_place* p = first; p != looked_at; p = p->next) {
                if (!wanted.are_of(*p)) continue;
                ::operator delete(made);  // another thread was quicker
                return p;
            }
            looked_at = first;
            if (made == nullptr) made = wanted.make_place();
            if (made == nullptr) return nullptr;
            made->next = first;
            // release: whoever finds the place sees it whole; acquire: as above.
            if (row.compare_exchange_weak(first, made, release, acquire)) return made;
        }
    }

private:
    struct texts {
        const char* name;  // null: none
        const char* file = "";
        const char* function = "task";
        std::uint32_t line = 0;

        texts(const char* named, const std::source_location& where)
            : name(named != nullptr && *named != '\0' ? named : nullptr) {
            if (where.line() == 0 || is_own_header(where.file_name())) return;
            file = where.file_name();
            function = where.function_name();
            line = where.line();
        }
        /// FNV-1a. Files are left out: two of them rarely have one name in one line.
        std::uint32_t hash() const {
            std::uint32_t sum = 2166136261U ^ line;
            for (const char* c = name; c != nullptr && *c != '\0'; ++c) {
                sum = (sum ^ static_cast<unsigned char>(*c)) * 16777619U;
            }
            return sum ^ sum >> 16;
        }
        bool are_of(const tracy_place& p) const {
            const char* const its_name = p.body.name;
            if (p.body.line != line || (its_name == nullptr) != (name == nullptr)) return false;
            if (name != nullptr && std::strcmp(its_name, name) != 0) return false;
            return std::strcmp(p.body.file, file) == 0;
        }
        /// In one block, with its texts behind it.
        tracy_place* make_place() const {
            constexpr char suffix[] = ", part";
            const std::size_t name_size = name != nullptr ? std::strlen(name) + 1 : 0;
            const std::size_t file_size = std::strlen(file) + 1;
            const std::size_t function_size = std::strlen(function) + 1;
            const std::size_t part_size = name != nullptr ? name_size + sizeof suffix - 1 : 0;
            void* const block = ::operator new(
                sizeof(tracy_place) + name_size + file_size + function_size + part_size,
                std::nothrow);
            if (block == nullptr) return nullptr;
            char* end = static_cast<char*>(block) + sizeof(tracy_place);
            const auto copy = [&end](const char* text, std::size_t size) {
                std::memcpy(end, text, size);
                end += size;
                return end - size;
            };
            ___tracy_source_location_data body{};
            body.file = copy(file, file_size);
            body.function = copy(function, function_size);
            body.line = line;
            ___tracy_source_location_data part = body;
            part.name = "part";
            if (name != nullptr) {
                body.name = copy(name, name_size);
                part.name = copy(name, name_size - 1);
                copy(suffix, sizeof suffix);
            }
            return ::new (block) tracy_place{body, part, nullptr};
        }
    };

    static constexpr std::size_t rows = 1024;
    atomic<const tracy_place*> rows_[rows]{};
};

}  // namespace profile
BRAID_NAMESPACE_END
