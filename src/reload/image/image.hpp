#pragma once
// A module's file as bytes: what its tables say, each checked against the size of the file. It
// reads nothing but the bytes, so that any bytes can be given to it.

#include "braid/base/status.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

struct section {
    std::string_view name = {};
    std::uint32_t type = 0, link = 0;
    std::uint64_t flags = 0, address = 0, offset = 0, size = 0, entry = 0;
};

struct symbol {
    std::string_view name;
    std::uint64_t value = 0;
    std::uint8_t bind = 0, type = 0, visibility = 0;
    std::uint16_t section = 0;  // 0: defined elsewhere
};

/// A word of the loaded image. `of` names the symbol that the loader will find, where that is not
/// in the image.
struct loaded_word {
    std::uint64_t value = 0;
    std::string_view of;
};

/// A shared object for this machine, of which every table and section lies inside the file. Views
/// the bytes that it was read from.
class image {
public:
    /// A status says in half a sentence what is wrong, as in "the file " + text. Linear in the
    /// number of sections, symbols and relocations; throws std::bad_alloc only.
    static status read(std::span<const std::byte> bytes, image& out);

    const std::vector<section>& sections() const { return sections_; }
    const section* find(std::string_view name) const;
    std::span<const std::byte> bytes_of(const section& s) const;
    /// The entries of the dynamic table and of the table for debuggers.
    const std::vector<symbol>& symbols() const { return symbols_; }
    /// In hexadecimal; empty: there is none.
    const std::string& build_id() const { return build_id_; }
    /// Where its bytes lie in the file; size 0: there is none.
    std::uint64_t build_id_offset() const { return build_id_offset_; }
    std::uint64_t build_id_size() const { return build_id_.size() / 2; }
    /// One of its own symbols that the loader may find in another library instead; empty: all
    /// references are bound inside (-Bsymbolic).
    std::string_view open_symbol() const;

    /// What the loader will have made of the word at that address of the image.
    std::optional<loaded_word> word_at(std::uint64_t address) const;
    /// The text at that address, without its zero; none when that is outside of the file.
    std::optional<std::string_view> text_at(std::uint64_t address) const;
    template <class T>
    std::optional<T> value_at(std::uint64_t address) const {
        const std::optional<std::uint64_t> offset = offset_of(address, sizeof(T));
        return offset ? at<T>(*offset) : std::nullopt;
    }

private:
    struct segment {
        std::uint64_t address, offset, size;
    };
    struct relocation {
        std::uint64_t address;
        std::uint32_t type, symbol;
        std::int64_t addend;
        std::uint32_t symbols;  // section of the table
    };

    bool inside(std::uint64_t offset, std::uint64_t size) const {
        return offset <= bytes_.size() && size <= bytes_.size() - offset;
    }
    template <class T>
    std::optional<T> at(std::uint64_t offset) const {
        if (!inside(offset, sizeof(T))) return std::nullopt;
        T value;
        std::memcpy(&value, bytes_.data() + offset, sizeof(T));
        return value;
    }
    std::optional<std::string_view> text_in(const section& table, std::uint64_t offset) const;
    std::optional<std::uint64_t> offset_of(std::uint64_t address, std::uint64_t size) const;
    std::optional<symbol> symbol_of(const section& table, std::uint64_t index) const;

    status read_header();
    status read_segments();
    status read_sections();
    status name_sections();
    status read_notes(std::uint64_t offset, std::uint64_t size);
    status read_dynamic(std::uint64_t offset, std::uint64_t size);
    status read_symbols();
    status read_relocations();

    std::span<const std::byte> bytes_;
    std::vector<section> sections_;
    std::vector<segment> segments_;
    std::vector<symbol> symbols_;
    std::vector<relocation> relocations_;  // by address
    std::string build_id_;
    std::uint64_t build_id_offset_ = 0;
    std::uint64_t names_ = 0;  // the section with the names of sections
    bool symbolic_ = false;
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
