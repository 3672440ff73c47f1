// How many cores this process may really use. A job object may limit its time, as a cgroup does.
#include "base/platform/platform.hpp"
#include "base/platform/windows/system.hpp"

#include <bit>

namespace braid::platform {

// Cores are numbered through the processor groups, each of which has up to 64.

core_set own_cores() noexcept {
    core_set cores;
    GROUP_AFFINITY own{};
    if (GetThreadGroupAffinity(GetCurrentThread(), &own) == 0) return {};
    if (own.Group < std::size(cores.words)) cores.words[own.Group] = own.Mask;
    return cores;
}

/// The system lets a thread run in one processor group at a time: the one with most of these cores.
bool set_cores(std::uint32_t thread_number, const core_set& cores) noexcept {
    GROUP_AFFINITY wanted{};
    int most = 0;
    for (std::size_t i = 0; i < std::size(cores.words); ++i) {
        const int count = std::popcount(cores.words[i]);
        if (count <= most) continue;
        most = count;
        wanted.Group = static_cast<WORD>(i);
        wanted.Mask = static_cast<KAFFINITY>(cores.words[i]);
    }
    if (most == 0) return false;
    if (thread_number == 0) {
        return SetThreadGroupAffinity(GetCurrentThread(), &wanted, nullptr) != 0;
    }
    const HANDLE thread = OpenThread(THREAD_SET_INFORMATION | THREAD_QUERY_INFORMATION, FALSE,
                                     static_cast<DWORD>(thread_number));
    if (thread == nullptr) return false;
    const bool done = SetThreadGroupAffinity(thread, &wanted, nullptr) != 0;
    CloseHandle(thread);
    return done;
}

std::uint32_t current_core() noexcept {
    PROCESSOR_NUMBER at{};
    GetCurrentProcessorNumberEx(&at);
    return at.Group * 64U + at.Number;
}

unsigned mask_cores() noexcept {
    DWORD_PTR process = 0;
    DWORD_PTR system = 0;
    // 0, both: the process has threads in several groups, and no limit.
    if (GetProcessAffinityMask(GetCurrentProcess(), &process, &system) != 0 && process != system &&
        process != 0) {
        return static_cast<unsigned>(std::popcount(std::uint64_t{process}));
    }
    return std::max<unsigned>(1, GetActiveProcessorCount(ALL_PROCESSOR_GROUPS));
}

unsigned quota_cores(const char*) noexcept {
    JOBOBJECT_CPU_RATE_CONTROL_INFORMATION limit{};
    if (QueryInformationJobObject(nullptr, JobObjectCpuRateControlInformation, &limit, sizeof limit,
                                  nullptr) == 0) {
        return 0;
    }
    constexpr DWORD hard =
        JOB_OBJECT_CPU_RATE_CONTROL_ENABLE | JOB_OBJECT_CPU_RATE_CONTROL_HARD_CAP;
    if ((limit.ControlFlags & hard) != hard || limit.CpuRate == 0) return 0;
    // In hundredths of a percent of the whole machine.
    const std::uint64_t all = GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
    return static_cast<unsigned>((all * limit.CpuRate + 9'999) / 10'000);
}

unsigned usable_cores(const char* root) noexcept {
    const unsigned quota = quota_cores(root);
    return quota == 0 ? mask_cores() : std::min(mask_cores(), quota);
}

}  // namespace braid::platform
