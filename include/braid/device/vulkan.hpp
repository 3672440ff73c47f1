#pragma once
// A graphics processor that is used through Vulkan 1.2. This header belongs to a separate library,
// braid::vulkan. A program that links the library also runs on machines without Vulkan.
//
//   braid::device::vulkan gpu(scheduler);
//   const braid::device::kernel skin{"skin", &skin_group, skin_spirv};  // braid_spirv() in CMake

#include "braid/device/processor.hpp"

#include <string>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace device {

struct vulkan_options {
    /// A part of the device's name. Null means the first usable device, and discrete devices
    /// precede integrated devices. A software device that runs on the cores is used only if its
    /// name contains this text.
    const char* device = nullptr;
    /// The path of a file that keeps compiled kernels between runs of the program. Null means no
    /// file. If the file is broken or another driver wrote it, the scheduler logs this, and a new
    /// file replaces it.
    const char* pipeline_cache = nullptr;
    /// Enables the Khronos validation layer with its synchronization checks, if the layer is
    /// installed. The layer's messages go to the scheduler's log.
    bool validation = false;
};

/// A kernel's operands are storage buffers of descriptor set 0. The inputs have the first bindings,
/// and the outputs follow. Constants are push constants, and group counts are workgroup counts. A
/// kernel runs on the cores if it has no SPIR-V, if one of its operands is empty, or if its
/// operands exceed the device's limits for their number or size.
///
/// Buffers are in memory that the device and the cores share. Caller-owned memory is copied before
/// and after a kernel. A range of a buffer is copied, too, if its offset is not a multiple of 256.
/// If there is no usable device, or if the scheduler has a chooser (see core/decision.hpp),
/// everything runs on the cores, and the scheduler logs this once.
class vulkan : public processor {
public:
    struct device_facts {
        std::string name;
        std::string type;   // discrete, integrated, virtual, cpu, other
        std::string lacks;  // the first missing requirement; empty if the device is usable
    };
    /// Returns all Vulkan devices of this machine, including devices that are not usable.
    static std::vector<device_facts> devices();

    explicit vulkan(scheduler& s, const vulkan_options& how = {},
                    const processor_options& options = {});
};

}  // namespace device
BRAID_NAMESPACE_END
