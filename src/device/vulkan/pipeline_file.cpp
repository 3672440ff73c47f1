#include "device/vulkan/pipeline_file.hpp"

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

BRAID_NAMESPACE_BEGIN
namespace device::detail::vk {

namespace {

struct closing {
    void operator()(std::FILE* f) const { std::fclose(f); }
};
using file = std::unique_ptr<std::FILE, closing>;

/// FNV-1a.
std::uint64_t sum_of(std::span<const std::byte> bytes) {
    std::uint64_t sum = 0xcbf29ce484222325;
    for (const std::byte b : bytes) sum = (sum ^ static_cast<std::uint8_t>(b)) * 0x100000001b3;
    return sum;
}

}  // namespace

pipeline_file_header pipeline_file_header::of(const VkPhysicalDeviceProperties& p) {
    pipeline_file_header h;
    h.vendor = p.vendorID;
    h.device = p.deviceID;
    h.driver = p.driverVersion;
    std::memcpy(h.driver_cache, p.pipelineCacheUUID, VK_UUID_SIZE);
    return h;
}

const char* read_pipelines(const char* path, const VkPhysicalDeviceProperties& p,
                           std::vector<std::byte>& to) {
    const file f(std::fopen(path, "rb"));
    if (f == nullptr) return nullptr;
    pipeline_file_header found;
    if (std::fread(&found, sizeof found, 1, f.get()) != 1) return "is broken";
    pipeline_file_header wanted = pipeline_file_header::of(p);
    if (found.magic != wanted.magic) return "is no such file";
    if (found.version != wanted.version) return "is of another version of Braid";
    wanted.bytes = found.bytes;
    wanted.sum = found.sum;
    if (found != wanted) return "is of another driver or device";
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    if (found.bytes > most) return "is broken";
    // Its length is believed no more than the rest, so it is read in parts.
    std::vector<std::byte> all;
    std::byte part[4096];
    for (std::size_t n = sizeof part; n == sizeof part;) {
        n = std::fread(part, 1, sizeof part, f.get());
        all.insert(all.end(), part, part + n);
        if (all.size() > found.bytes) return "is broken";
    }
    if (all.size() != found.bytes || sum_of(all) != found.sum) return "is broken";
    to = std::move(all);
    return nullptr;
}

bool write_pipelines(const char* path, const VkPhysicalDeviceProperties& p,
                     std::span<const std::byte> from) {
    pipeline_file_header h = pipeline_file_header::of(p);
    h.bytes = from.size();
    h.sum = sum_of(from);
    const std::string beside = std::string(path) + ".new";
    bool whole = false;
    if (file f{std::fopen(beside.c_str(), "wb")}; f != nullptr) {
        whole = std::fwrite(&h, sizeof h, 1, f.get()) == 1 &&
                std::fwrite(from.data(), 1, from.size(), f.get()) == from.size();
        whole = std::fclose(f.release()) == 0 && whole;
    }
    if (whole && std::rename(beside.c_str(), path) == 0) return true;
    std::remove(beside.c_str());
    return false;
}

}  // namespace device::detail::vk
BRAID_NAMESPACE_END
