#include "device/vulkan/instance.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

BRAID_NAMESPACE_BEGIN
namespace device::detail::vk {

namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

/// Found once; what volk keeps beside it, one table for the process, is not used.
bool is_there() {
    static const bool there = volkInitialize() == VK_SUCCESS;
    return there;
}

bool layer_is_there() {
    std::uint32_t count = 0;
    vkEnumerateInstanceLayerProperties(&count, nullptr);
    std::vector<VkLayerProperties> layers(count);
    vkEnumerateInstanceLayerProperties(&count, layers.data());
    return std::any_of(layers.begin(), layers.end(), [](const VkLayerProperties& l) {
        return std::strcmp(l.layerName, validation_layer) == 0;
    });
}

/// Compute without graphics first, as it goes on beside the picture.
bool find_queue_family(std::span<const VkQueueFamilyProperties> families, std::uint32_t& found) {
    const auto find = [&](VkQueueFlags unwanted) {
        for (std::uint32_t i = 0; i < families.size(); ++i) {
            const VkQueueFlags flags = families[i].queueFlags;
            if ((flags & VK_QUEUE_COMPUTE_BIT) == 0 || (flags & unwanted) != 0) continue;
            found = i;
            return true;
        }
        return false;
    };
    return find(VK_QUEUE_GRAPHICS_BIT) || find(0);
}

/// The lowest is taken first.
unsigned rank(const candidate& c) {
    switch (c.properties.deviceType) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
            return 0;
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
            return 1;
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
            return 2;
        default:
            return 3;
    }
}

}  // namespace

const char* type_of(const VkPhysicalDeviceProperties& properties) {
    switch (properties.deviceType) {
        case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
            return "discrete";
        case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
            return "integrated";
        case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
            return "virtual";
        case VK_PHYSICAL_DEVICE_TYPE_CPU:
            return "cpu";
        default:
            return "other";
    }
}

// ---- the instance ------------------------------------------------------------------------------

const char* instance::open(const interposer& between, message_handler say, void* user) {
    if (!is_there()) return "no Vulkan loader is installed";
    between_ = between;
    say_ = say;
    user_ = user;
    VkDebugUtilsMessengerCreateInfoEXT messages{};
    messages.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
    messages.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
                               VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
    messages.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_TYPE_PERFORMANCE_BIT_EXT;
    messages.pfnUserCallback =
        [](VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
           const VkDebugUtilsMessengerCallbackDataEXT* data, void* self) -> VkBool32 {
        const auto& i = *static_cast<const instance*>(self);
        i.say_(i.user_, data->pMessage);
        return VK_FALSE;
    };
    messages.pUserData = this;
    const bool validates = say != nullptr && layer_is_there();
    if (create(validates, messages) != VK_SUCCESS) return "Vulkan refused an instance";
#define BRAID_VULKAN_LOAD(name) \
    vk_.name = reinterpret_cast<PFN_vk##name>(vkGetInstanceProcAddr(handle_, "vk" #name));
    BRAID_VULKAN_INSTANCE_ENTRIES(BRAID_VULKAN_LOAD)
#undef BRAID_VULKAN_LOAD
    if (between_.instance != nullptr) between_.instance(vk_);
    if (!validates) return nullptr;
    const auto create_messenger = reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(
        vkGetInstanceProcAddr(handle_, "vkCreateDebugUtilsMessengerEXT"));
    if (create_messenger != nullptr) create_messenger(handle_, &messages, nullptr, &messenger_);
    return nullptr;
}

VkResult instance::create(bool with_validation,
                          const VkDebugUtilsMessengerCreateInfoEXT& messages) {
    if (volkGetInstanceVersion() < VK_API_VERSION_1_2) return VK_ERROR_INCOMPATIBLE_DRIVER;
    VkApplicationInfo application{};
    application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
    application.pEngineName = "Braid";
    application.apiVersion = VK_API_VERSION_1_2;
    const VkValidationFeatureEnableEXT checks[] = {
        VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT};
    VkValidationFeaturesEXT validation{};
    validation.sType = VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
    validation.pNext = &messages;
    validation.enabledValidationFeatureCount = 1;
    validation.pEnabledValidationFeatures = checks;
    const char* const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME,
                                      VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME};
    VkInstanceCreateInfo how{};
    how.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
    how.pApplicationInfo = &application;
    if (with_validation) {
        how.pNext = &validation;
        how.enabledLayerCount = 1;
        how.ppEnabledLayerNames = &validation_layer;
        how.enabledExtensionCount = 2;
        how.ppEnabledExtensionNames = extensions;
    }
    return vkCreateInstance(&how, nullptr, &handle_);
}

instance::~instance() {
    if (handle_ == VK_NULL_HANDLE) return;
    if (messenger_ != VK_NULL_HANDLE) {
        const auto destroy = reinterpret_cast<PFN_vkDestroyDebugUtilsMessengerEXT>(
            vkGetInstanceProcAddr(handle_, "vkDestroyDebugUtilsMessengerEXT"));
        destroy(handle_, messenger_, nullptr);
    }
    vk_.DestroyInstance(handle_, nullptr);
}

device_entries instance::entries_of(VkDevice device) const {
    device_entries vk;
#define BRAID_VULKAN_LOAD(name) \
    vk.name = reinterpret_cast<PFN_vk##name>(vk_.GetDeviceProcAddr(device, "vk" #name));
    BRAID_VULKAN_DEVICE_RESULTS(BRAID_VULKAN_LOAD)
    BRAID_VULKAN_DEVICE_OTHERS(BRAID_VULKAN_LOAD)
#undef BRAID_VULKAN_LOAD
    if (between_.device != nullptr) between_.device(vk);
    return vk;
}

// ---- devices -----------------------------------------------------------------------------------

std::vector<candidate> instance::candidates() const {
    std::uint32_t count = 0;
    if (vk_.EnumeratePhysicalDevices(handle_, &count, nullptr) != VK_SUCCESS) return {};
    std::vector<VkPhysicalDevice> handles(count);
    if (vk_.EnumeratePhysicalDevices(handle_, &count, handles.data()) != VK_SUCCESS) return {};
    std::vector<candidate> all(count);
    for (std::uint32_t i = 0; i < count; ++i) {
        all[i].handle = handles[i];
        vk_.GetPhysicalDeviceProperties(handles[i], &all[i].properties);
        all[i].lacks = judge(all[i]);
        if (all[i].lacks.empty()) find_extensions(all[i]);
    }
    return all;
}

std::string instance::judge(candidate& c) const {
    if (c.properties.apiVersion < VK_API_VERSION_1_2) return "Vulkan 1.2";
    VkPhysicalDeviceVulkan12Features has{};
    has.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
    VkPhysicalDeviceFeatures2 features{};
    features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
    features.pNext = &has;
    vk_.GetPhysicalDeviceFeatures2(c.handle, &features);
    if (has.timelineSemaphore == VK_FALSE) return "timeline semaphores";
    std::uint32_t count = 0;
    vk_.GetPhysicalDeviceQueueFamilyProperties(c.handle, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vk_.GetPhysicalDeviceQueueFamilyProperties(c.handle, &count, families.data());
    if (!find_queue_family(families, c.queue_family)) return "a queue for compute";
    c.tick_bits = families[c.queue_family].timestampValidBits;
    return {};
}

std::vector<const char*> candidate::extensions() const {
    std::vector<const char*> all;
    if (import_alignment != 0) all.push_back(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
    if (is_calibrated) all.push_back(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME);
    return all;
}

void instance::find_extensions(candidate& c) const {
    std::uint32_t count = 0;
    const auto enumerate = vk_.EnumerateDeviceExtensionProperties;
    if (enumerate(c.handle, nullptr, &count, nullptr) != VK_SUCCESS) return;
    std::vector<VkExtensionProperties> all(count);
    if (enumerate(c.handle, nullptr, &count, all.data()) != VK_SUCCESS) return;
    const auto has = [&](const char* name) {
        return std::any_of(all.begin(), all.end(), [name](const VkExtensionProperties& e) {
            return std::strcmp(e.extensionName, name) == 0;
        });
    };
    if (has(VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME) && can_import(c)) {
        VkPhysicalDeviceExternalMemoryHostPropertiesEXT host{};
        host.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_MEMORY_HOST_PROPERTIES_EXT;
        VkPhysicalDeviceProperties2 properties{};
        properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
        properties.pNext = &host;
        vk_.GetPhysicalDeviceProperties2(c.handle, &properties);
        c.import_alignment = static_cast<std::size_t>(host.minImportedHostPointerAlignment);
    }
    c.is_calibrated = has(VK_EXT_CALIBRATED_TIMESTAMPS_EXTENSION_NAME) && can_calibrate(c);
}

bool instance::can_calibrate(const candidate& c) const {
    const auto get = vk_.GetPhysicalDeviceCalibrateableTimeDomainsEXT;
    std::uint32_t count = 0;
    if (get == nullptr || get(c.handle, &count, nullptr) != VK_SUCCESS) return false;
    std::vector<VkTimeDomainEXT> all(count);
    if (get(c.handle, &count, all.data()) != VK_SUCCESS) return false;
    const auto has = [&](VkTimeDomainEXT d) {
        return std::find(all.begin(), all.end(), d) != all.end();
    };
    return has(VK_TIME_DOMAIN_DEVICE_EXT) && has(VK_TIME_DOMAIN_CLOCK_MONOTONIC_EXT);
}

bool instance::can_import(const candidate& c) const {
    VkPhysicalDeviceExternalBufferInfo what{};
    what.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_EXTERNAL_BUFFER_INFO;
    what.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    what.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
    VkExternalBufferProperties found{};
    found.sType = VK_STRUCTURE_TYPE_EXTERNAL_BUFFER_PROPERTIES;
    vk_.GetPhysicalDeviceExternalBufferProperties(c.handle, &what, &found);
    const VkExternalMemoryFeatureFlags can = found.externalMemoryProperties.externalMemoryFeatures;
    return (can & VK_EXTERNAL_MEMORY_FEATURE_IMPORTABLE_BIT) != 0;
}

const candidate* choose(std::span<const candidate> all, const char* name, std::span<char> why) {
    const auto is_meant = [name](const candidate& c) {
        return name != nullptr ? std::strstr(c.properties.deviceName, name) != nullptr
                               : c.properties.deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
    };
    const candidate* best = nullptr;
    for (const candidate& c : all) {
        if (!c.lacks.empty() || !is_meant(c)) continue;
        if (best == nullptr || rank(c) < rank(*best)) best = &c;
    }
    if (best != nullptr) return best;
    std::string there;
    for (const candidate& c : all) {
        there += (there.empty() ? "" : "; ") + std::string(c.properties.deviceName) + " (" +
                 type_of(c.properties) + (c.lacks.empty() ? "" : ", lacks " + c.lacks) + ")";
    }
    if (there.empty()) there = "none";
    std::snprintf(why.data(), why.size(), "%s%.60s%s, there are: %.240s",
                  name != nullptr ? "no usable Vulkan device has '" : "no Vulkan device of its own",
                  name != nullptr ? name : "", name != nullptr ? "' in its name" : "",
                  there.c_str());
    return nullptr;
}

}  // namespace device::detail::vk
BRAID_NAMESPACE_END
