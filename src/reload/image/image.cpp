// Reads the tables of an ELF file in the order in which they lead to each other.
#include "reload/image/image.hpp"

#include <elf.h>

#include <algorithm>
#include <limits>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

#if defined(__aarch64__)
constexpr std::uint16_t own_machine = EM_AARCH64;
constexpr const char* own_machine_name = "arm64";
constexpr std::uint32_t relative = R_AARCH64_RELATIVE, absolute = R_AARCH64_ABS64;
#else
constexpr std::uint16_t own_machine = EM_X86_64;
constexpr const char* own_machine_name = "x86-64";
constexpr std::uint32_t relative = R_X86_64_RELATIVE, absolute = R_X86_64_64;
#endif
constexpr std::uint64_t executable_flag = 0x08000000;  // DF_1_PIE

status wrong(std::string text) { return {1, std::move(text)}; }

std::string number(std::uint64_t n) { return std::to_string(n); }

}  // namespace

status image::read(std::span<const std::byte> bytes, image& out) {
    image own;
    own.bytes_ = bytes;
    for (const auto step :
         {&image::read_header, &image::read_sections, &image::name_sections, &image::read_segments,
          &image::read_symbols, &image::read_relocations}) {
        if (status went = (own.*step)(); !went) return went;
    }
    out = std::move(own);
    return {};
}

status image::read_header() {
    if (bytes_.empty()) return wrong("is empty");
    const std::size_t letters = std::min<std::size_t>(bytes_.size(), SELFMAG);
    if (std::memcmp(bytes_.data(), ELFMAG, letters) != 0) return wrong("is no ELF file");
    const auto header = at<Elf64_Ehdr>(0);
    if (!header) return wrong("is cut off: " + number(bytes_.size()) + " bytes hold no ELF header");
    if (header->e_ident[EI_CLASS] == ELFCLASS32) return wrong("is for a 32-bit program");
    if (header->e_ident[EI_CLASS] != ELFCLASS64) return wrong("is of no known ELF class");
    if (header->e_ident[EI_DATA] != ELFDATA2LSB) {
        return wrong("is for a machine with another order of bytes");
    }
    if (header->e_ident[EI_VERSION] != EV_CURRENT || header->e_version != EV_CURRENT) {
        return wrong("is of another version of ELF");
    }
    if (header->e_machine != own_machine) {
        return wrong("is for another machine (ELF number " + number(header->e_machine) +
                     "), and this one is " + own_machine_name);
    }
    if (header->e_type == ET_EXEC) return wrong("is an executable, not a shared object");
    if (header->e_type == ET_REL) return wrong("is an object file, not a shared object");
    if (header->e_type == ET_CORE) return wrong("is a core file, not a shared object");
    if (header->e_type != ET_DYN) return wrong("is no shared object");
    if (header->e_ehsize != sizeof(Elf64_Ehdr) || header->e_phentsize != sizeof(Elf64_Phdr) ||
        header->e_shentsize != sizeof(Elf64_Shdr)) {
        return wrong("has tables of unknown shape");
    }
    return {};
}

status image::read_sections() {
    const Elf64_Ehdr header = *at<Elf64_Ehdr>(0);
    if (header.e_shoff == 0) return wrong("has no section table");
    const auto first = at<Elf64_Shdr>(header.e_shoff);
    const std::uint64_t most = bytes_.size() / sizeof(Elf64_Shdr);
    // Files with very many sections keep the number in the first one.
    const std::uint64_t count = header.e_shnum != 0 ? header.e_shnum : first ? first->sh_size : 0;
    if (!first || count > most || !inside(header.e_shoff, count * sizeof(Elf64_Shdr))) {
        return wrong("is cut off: its section table ends behind the file's " +
                     number(bytes_.size()) + " bytes");
    }
    names_ = header.e_shstrndx != SHN_XINDEX ? header.e_shstrndx : first->sh_link;
    if (first->sh_type != SHT_NULL || names_ == 0 || names_ >= count) {
        return wrong("has no names of sections: its section table was never written");
    }
    sections_.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
        const Elf64_Shdr s = *at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
        sections_.push_back({.type = s.sh_type,
                             .link = s.sh_link,
                             .flags = s.sh_flags,
                             .address = s.sh_addr,
                             .offset = s.sh_offset,
                             .size = s.sh_size,
                             .entry = s.sh_entsize});
    }
    return {};
}

status image::name_sections() {
    const Elf64_Ehdr header = *at<Elf64_Ehdr>(0);
    if (sections_[names_].type != SHT_STRTAB) {
        return wrong("has no names of sections: its section table was never written");
    }
    for (std::uint64_t i = 1; i < sections_.size(); ++i) {
        const Elf64_Shdr s = *at<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
        const auto name = text_in(sections_[names_], s.sh_name);
        if (!name) return wrong("is damaged: section " + number(i) + " has no name");
        sections_[i].name = *name;
        if (s.sh_type == SHT_NOBITS || s.sh_type == SHT_NULL) continue;
        if (!inside(s.sh_offset, s.sh_size)) {
            return wrong("is cut off: section '" + std::string(*name) +
                         "' ends behind the file's " + number(bytes_.size()) + " bytes");
        }
        if (s.sh_type == SHT_NOTE) {
            if (status went = read_notes(s.sh_offset, s.sh_size); !went) return went;
        }
    }
    return {};
}

status image::read_segments() {
    const Elf64_Ehdr header = *at<Elf64_Ehdr>(0);
    if (!inside(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr))) {
        return wrong("is cut off: its segment table ends behind the file's " +
                     number(bytes_.size()) + " bytes");
    }
    bool dynamic = false;
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
        const Elf64_Phdr p = *at<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
        if (p.p_type == PT_NULL) continue;
        if (!inside(p.p_offset, p.p_filesz)) {
            return wrong("is cut off: segment " + number(i) + " ends behind the file's " +
                         number(bytes_.size()) + " bytes");
        }
        if (p.p_type == PT_INTERP) return wrong("is an executable, not a shared object");
        if (p.p_type == PT_LOAD) {
            if (p.p_filesz > p.p_memsz || p.p_vaddr > UINT64_MAX - p.p_memsz) {
                return wrong("is damaged: segment " + number(i) + " is larger than its memory");
            }
            segments_.push_back({p.p_vaddr, p.p_offset, p.p_filesz});
        } else if (p.p_type == PT_DYNAMIC) {
            dynamic = true;
            if (status went = read_dynamic(p.p_offset, p.p_filesz); !went) return went;
        } else if (p.p_type == PT_NOTE && build_id_.empty()) {
            if (status went = read_notes(p.p_offset, p.p_filesz); !went) return went;
        }
    }
    if (segments_.empty()) return wrong("has nothing to load");
    return dynamic ? status{} : wrong("has no dynamic table, so that nothing can be found in it");
}

status image::read_notes(std::uint64_t offset, std::uint64_t size) {
    const std::uint64_t end = offset + size;
    while (end - offset >= sizeof(Elf64_Nhdr)) {
        const Elf64_Nhdr note = *at<Elf64_Nhdr>(offset);
        const std::uint64_t name = offset + sizeof note;
        const std::uint64_t content =
            name + ((std::uint64_t{note.n_namesz} + 3) & ~std::uint64_t{3});
        const std::uint64_t next =
            content + ((std::uint64_t{note.n_descsz} + 3) & ~std::uint64_t{3});
        if (content > end || note.n_descsz > end - content)
            return wrong("is damaged: a note is cut");
        const bool is_id =
            note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof ELF_NOTE_GNU &&
            std::memcmp(bytes_.data() + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0;
        if (is_id && build_id_.empty() && note.n_descsz >= 4 && note.n_descsz <= 64) {
            bool any = false;
            for (std::uint64_t i = 0; i < note.n_descsz; ++i) {
                const auto byte = std::to_integer<unsigned>(bytes_[content + i]);
                any = any || byte != 0;
                build_id_ += "0123456789abcdef"[byte >> 4];
                build_id_ += "0123456789abcdef"[byte & 15];
            }
            build_id_offset_ = content;
            if (!any) build_id_.clear();
        }
        if (next >= end) return {};
        offset = next;
    }
    return {};
}

status image::read_dynamic(std::uint64_t offset, std::uint64_t size) {
    for (std::uint64_t i = 0; i < size / sizeof(Elf64_Dyn); ++i) {
        const Elf64_Dyn d = *at<Elf64_Dyn>(offset + i * sizeof(Elf64_Dyn));
        if (d.d_tag == DT_NULL) return {};
        symbolic_ = symbolic_ || d.d_tag == DT_SYMBOLIC ||
                    (d.d_tag == DT_FLAGS && (d.d_un.d_val & DF_SYMBOLIC) != 0);
        if (d.d_tag == DT_FLAGS_1 && (d.d_un.d_val & executable_flag) != 0) {
            return wrong("is an executable, not a shared object");
        }
    }
    return wrong("is damaged: its dynamic table has no end");
}

std::optional<symbol> image::symbol_of(const section& table, std::uint64_t index) const {
    if (index >= table.size / sizeof(Elf64_Sym) || table.link >= sections_.size()) return {};
    const auto s = at<Elf64_Sym>(table.offset + index * sizeof(Elf64_Sym));
    if (!s) return {};
    const auto name = text_in(sections_[table.link], s->st_name);
    if (!name) return {};
    return symbol{*name,
                  s->st_value,
                  static_cast<std::uint8_t>(ELF64_ST_BIND(s->st_info)),
                  static_cast<std::uint8_t>(ELF64_ST_TYPE(s->st_info)),
                  static_cast<std::uint8_t>(ELF64_ST_VISIBILITY(s->st_other)),
                  s->st_shndx};
}

status image::read_symbols() {
    for (const section& table : sections_) {
        if (table.type != SHT_DYNSYM && table.type != SHT_SYMTAB) continue;
        const auto damaged = [&table] {
            return wrong("is damaged: a symbol in '" + std::string(table.name) + "' has no name");
        };
        if (table.entry != sizeof(Elf64_Sym)) return damaged();
        for (std::uint64_t i = 1; i < table.size / sizeof(Elf64_Sym); ++i) {
            const std::optional<symbol> one = symbol_of(table, i);
            if (!one) return damaged();
            symbols_.push_back(*one);
        }
    }
    return {};
}

status image::read_relocations() {
    for (const section& table : sections_) {
        if (table.type != SHT_RELA || (table.flags & SHF_ALLOC) == 0) continue;
        for (std::uint64_t i = 0; i < table.size / sizeof(Elf64_Rela); ++i) {
            const Elf64_Rela r = *at<Elf64_Rela>(table.offset + i * sizeof(Elf64_Rela));
            relocations_.push_back({r.r_offset, static_cast<std::uint32_t>(ELF64_R_TYPE(r.r_info)),
                                    static_cast<std::uint32_t>(ELF64_R_SYM(r.r_info)), r.r_addend,
                                    table.link});
        }
    }
    std::ranges::sort(relocations_, {}, &relocation::address);
    return {};
}

const section* image::find(std::string_view name) const {
    const auto found = std::ranges::find(sections_, name, &section::name);
    return found != sections_.end() ? &*found : nullptr;
}

std::span<const std::byte> image::bytes_of(const section& s) const {
    if (s.type == SHT_NOBITS || !inside(s.offset, s.size)) return {};
    return bytes_.subspan(s.offset, s.size);
}

std::optional<std::string_view> image::text_in(const section& table, std::uint64_t offset) const {
    if (!inside(table.offset, table.size) || offset >= table.size) return {};
    const char* const text = reinterpret_cast<const char*>(bytes_.data()) + table.offset + offset;
    const void* const end = std::memchr(text, '\0', table.size - offset);
    if (end == nullptr) return {};
    return std::string_view(text, static_cast<std::size_t>(static_cast<const char*>(end) - text));
}

std::optional<std::uint64_t> image::offset_of(std::uint64_t address, std::uint64_t size) const {
    for (const segment& s : segments_) {
        if (address >= s.address && address - s.address <= s.size &&
            size <= s.size - (address - s.address)) {
            return s.offset + (address - s.address);
        }
    }
    return {};
}

std::string_view image::open_symbol() const {
    if (symbolic_) return "";
    // Not every linker leaves a mark in the dynamic table: some bind, and leave no relocation.
    for (const relocation& r : relocations_) {
        if (r.symbol == 0 || r.symbols >= sections_.size()) continue;
        const std::optional<symbol> of = symbol_of(sections_[r.symbols], r.symbol);
        if (of && of->section != SHN_UNDEF && of->visibility == STV_DEFAULT) return of->name;
    }
    return "";
}

std::optional<std::string_view> image::text_at(std::uint64_t address) const {
    for (const segment& s : segments_) {
        if (address < s.address || address - s.address >= s.size) continue;
        return text_in({.offset = s.offset, .size = s.size}, address - s.address);
    }
    return {};
}

std::optional<loaded_word> image::word_at(std::uint64_t address) const {
    const auto found = std::ranges::lower_bound(relocations_, address, {}, &relocation::address);
    if (found == relocations_.end() || found->address != address) {
        const auto value = value_at<std::uint64_t>(address);
        return value ? std::optional(loaded_word{*value, {}}) : std::nullopt;
    }
    const auto addend = static_cast<std::uint64_t>(found->addend);
    if (found->type == relative) return loaded_word{addend, {}};
    if (found->type != absolute || found->symbols >= sections_.size()) return {};
    const std::optional<symbol> of = symbol_of(sections_[found->symbols], found->symbol);
    if (!of) return {};
    if (of->section == SHN_UNDEF) return loaded_word{addend, of->name};
    return loaded_word{of->value + addend, of->name};
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
