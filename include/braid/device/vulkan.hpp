#pragma once
// A graphics processor, by Vulkan 1.2. It is in a library of its own, braid::vulkan. A program that
// links it also runs on machines without Vulkan.
//
//   braid::device::vulkan gpu(scheduler);
//   const braid::device::kernel skin{"skin", &skin_group, skin_spirv};  // braid_spirv() in CMake

#include "braid/device/processor.hpp"

#include <string>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace device {

struct vulkan_options {
    /// A part of the device's name. Null means the first usable device, discrete ones before
    /// integrated ones. A device that is a program on the cores is taken only by its name.
    const char* device = nullptr;
    /// A file that keeps compiled kernels from one run of the program to the next. Null means no
    /// file. A file that another driver wrote, or that is broken, is logged and written anew.
    const char* pipeline_cache = nullptr;
    /// Turns on Khronos' validation layer with its checks of synchronization, if it is installed.
    /// Its messages go to the scheduler's log.
    bool validation = false;
};

/// A kernel finds its operands as storage buffers of set 0. Bindings are in the order of reads,
/// then writes. Constants are push constants, and counts of groups are counts of workgroups. A
/// kernel runs on the cores if it has no SPIR-V, if one of its operands is empty, or if it has more
/// or larger operands than the device takes.
///
/// Buffers lie in memory that the device and the cores share. Memory of the program is copied
/// before and after a kernel, and so is a range whose offset is not a multiple of 256. Without a
/// device, or under a chooser, everything runs on the cores, which is logged once.
class vulkan : public processor {
public:
    struct device_facts {
        std::string name;
        std::string type;   // discrete, integrated, virtual, cpu, other
        std::string lacks;  // what the device lacks; empty if it is usable
    };
    /// Returns the devices of this machine, usable or not.
    static std::vector<device_facts> devices();

    explicit vulkan(scheduler& s, const vulkan_options& how = {},
                    const processor_options& options = {});
};

}  // namespace device
BRAID_NAMESPACE_END
