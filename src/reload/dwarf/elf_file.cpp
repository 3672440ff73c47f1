#include "reload/dwarf/elf_file.hpp"

#include <string_view>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

/// libelf wants a pointer to bytes that it could write to.
Elf* read(std::span<const std::byte> bytes) {
    // Once, as libelf keeps it in a global, and several threads open files.
    [[maybe_unused]] static const unsigned version = elf_version(EV_CURRENT);
    return elf_memory(reinterpret_cast<char*>(const_cast<std::byte*>(bytes.data())), bytes.size());
}

bool has_compressed_sections(Elf& elf) {
    std::size_t names = 0;
    if (elf_getshdrstrndx(&elf, &names) != 0) return false;
    for (Elf_Scn* one = elf_nextscn(&elf, nullptr); one != nullptr; one = elf_nextscn(&elf, one)) {
        GElf_Shdr header;
        if (gelf_getshdr(one, &header) == nullptr) continue;
        const char* const name = elf_strptr(&elf, names, header.sh_name);
        if ((header.sh_flags & SHF_COMPRESSED) != 0 ||
            (name != nullptr && std::string_view(name).starts_with(".zdebug"))) {
            return true;
        }
    }
    return false;
}

}  // namespace

elf_file::elf_file(std::span<const std::byte> bytes) : elf_(read(bytes)) {
    if (elf_ == nullptr || !has_compressed_sections(*elf_)) return;
    elf_end(elf_);
    elf_ = nullptr;
    own_.assign(bytes.begin(), bytes.end());
    elf_ = read(own_);
}

elf_file::~elf_file() {
    if (elf_ != nullptr) elf_end(elf_);
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
