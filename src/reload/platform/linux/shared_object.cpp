// Shared objects. None is ever closed: a thread-local object with a destructor keeps its code in
// use until the last thread that made one has ended, and nobody could say who else points to it.
#include "reload/platform/platform.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace reload::platform {

status load_shared(const std::string& path, void*& handle) {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) return {};
    const char* const said = dlerror();
    return {1, said != nullptr ? said : "the system's loader refused '" + path + "'"};
}

void* find_symbol(void* handle, const char* name) { return dlsym(handle, name); }

bool set_executable(const image_place& place, bool may_run) {
    struct change {
        const image_place& place;
        int rights;
        bool went;
    } all{place, may_run ? PROT_READ | PROT_EXEC : PROT_READ, false};
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* data) {
            auto& to = *static_cast<change*>(data);
            if (object->dlpi_addr != to.place.moved_by) return 0;
            const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
            for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
                const ElfW(Phdr)& p = object->dlpi_phdr[i];
                if (p.p_type != PT_LOAD || (p.p_flags & PF_X) == 0) continue;
                const std::uintptr_t begin = (object->dlpi_addr + p.p_vaddr) & ~(page - 1);
                const std::uintptr_t end = object->dlpi_addr + p.p_vaddr + p.p_memsz;
                void* const first = reinterpret_cast<void*>(begin);
                to.went = mprotect(first, end - begin, to.rights) == 0;
            }
            return 1;
        },
        &all);
    return all.went;
}

code_file code_file_at(std::uintptr_t address) {
    Dl_info found;
    link_map* map = nullptr;
    if (dladdr1(reinterpret_cast<const void*>(address), &found, reinterpret_cast<void**>(&map),
                RTLD_DL_LINKMAP) == 0 ||
        map == nullptr) {
        return {};
    }
    // The program itself has no name there.
    const bool named = map->l_name != nullptr && *map->l_name != '\0';
    return {named ? map->l_name : found.dli_fname, map->l_addr};
}

image_place place_of(void* handle) {
    const link_map* map = nullptr;
    if (dlinfo(handle, RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0 || map == nullptr) return {};
    image_place found{.begin = UINTPTR_MAX, .end = 0, .moved_by = map->l_addr};
    // Two objects cannot have their dynamic table at one address.
    struct search {
        const link_map* map;
        image_place& found;
    } wanted{map, found};
    dl_iterate_phdr(
        [](dl_phdr_info* object, std::size_t, void* data) {
            auto& to = *static_cast<search*>(data);
            const ElfW(Phdr)* const end = object->dlpi_phdr + object->dlpi_phnum;
            const bool is_it = std::any_of(object->dlpi_phdr, end, [&](const ElfW(Phdr) & p) {
                const std::uintptr_t dynamic = object->dlpi_addr + p.p_vaddr;
                return p.p_type == PT_DYNAMIC &&
                       reinterpret_cast<const ElfW(Dyn)*>(dynamic) == to.map->l_ld;
            });
            if (!is_it) return 0;
            for (const ElfW(Phdr)* p = object->dlpi_phdr; p != end; ++p) {
                if (p->p_type != PT_LOAD) continue;
                const std::uintptr_t begin = object->dlpi_addr + p->p_vaddr;
                to.found.begin = std::min(to.found.begin, begin);
                to.found.end = std::max(to.found.end, begin + p->p_memsz);
            }
            return 1;
        },
        &wanted);
    return found.begin < found.end ? found : image_place{};
}

}  // namespace reload::platform
BRAID_NAMESPACE_END
