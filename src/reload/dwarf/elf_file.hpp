#pragma once
// A file's bytes as libelf and libdw read them.

#include "braid/base/version.hpp"

#include <elfutils/libdw.h>

#include <cstddef>
#include <span>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// Never writes to the bytes, which outlive it.
class elf_file {
public:
    explicit elf_file(std::span<const std::byte> bytes);
    ~elf_file();
    elf_file(const elf_file&) = delete;
    elf_file& operator=(const elf_file&) = delete;

    /// Null: it is no such file.
    Elf* get() const { return elf_; }

private:
    // libdw marks a compressed section as unpacked where its header lies. Others may still need
    // the bytes as they were: the copy that is loaded is written from those that were checked.
    std::vector<std::byte> own_;
    Elf* elf_;
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
