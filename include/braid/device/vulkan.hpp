#pragma once
// A graphics processor, by Vulkan 1.2. In a library of its own, braid::vulkan; a program that links
// it runs also where there is no Vulkan at all.
//
//   braid::device::vulkan gpu(scheduler);
//   const braid::device::kernel skin{"skin", &skin_group, skin_spirv};  // braid_spirv() in CMake

#include "braid/device/processor.hpp"

#include <string>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace device {

struct vulkan_options {
    /// A part of its name. Null: the first that can, discrete ones before integrated ones; one that
    /// is a program on the cores is taken by its name only.
    const char* device = nullptr;
    /// A file in which compiled kernels lie from one run to the next. Null: there is none. One that
    /// another driver wrote, or that is broken, is logged and written anew.
    const char* pipeline_cache = nullptr;
    /// Khronos' validation layer, with its checks of synchronization, where it is installed. What
    /// it says goes to the scheduler's log.
    bool validation = false;
};

/// A kernel finds its operands as storage buffers of set 0, bindings in the order of reads, then
/// writes, and its constants as push constants; counts of groups are workgroups. A kernel without
/// SPIR-V runs on the cores, and so does one with an empty operand, or with more or larger ones
/// than the device takes.
///
/// Buffers lie in memory that device and cores share; memory of the program, and a range whose
/// offset is no multiple of 256, is copied before and after. Without a device, and under a chooser,
/// everything runs on the cores, which is logged once.
class vulkan : public processor {
public:
    struct device_facts {
        std::string name;
        std::string type;   // discrete, integrated, virtual, cpu, other
        std::string lacks;  // what it would need. Empty: it can be used
    };
    /// What this machine has, usable or not.
    static std::vector<device_facts> devices();

    explicit vulkan(scheduler& s, const vulkan_options& how = {},
                    const processor_options& options = {});
};

}  // namespace device
BRAID_NAMESPACE_END
