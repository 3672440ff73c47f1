#pragma once
// A block device that fails with EIO from the middle on: a loop device whose file has been cut.

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

namespace braid_test {

class cut_device {
public:
    static constexpr std::size_t whole = std::size_t{2} << 20, left = whole / 2;

    cut_device() {
        std::string name =
            (std::filesystem::temp_directory_path() / "braid-device-XXXXXX").string();
        const int file = mkstemp(name.data());
        unlink(name.c_str());
        const int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
        if (control < 0) {
            why_not_ = std::string("/dev/loop-control: ") + std::strerror(errno);
        } else if (ftruncate(file, whole) != 0 || !attach(control, file) ||
                   ftruncate(file, left) != 0) {
            why_not_ = std::string("a loop device: ") + std::strerror(errno);
        }
        if (control >= 0) close(control);
        close(file);
    }
    ~cut_device() {
        if (device_ < 0) return;
        close(device_);
    }
    cut_device(const cut_device&) = delete;
    cut_device& operator=(const cut_device&) = delete;

    /// "": it is there.
    const std::string& why_not() const { return why_not_; }
    const std::string& path() const { return path_; }

private:
    bool attach(int control, int file) {
        // Somebody else may take the free one first.
        for (int tries = 0; tries < 20; ++tries) {
            const int number = ioctl(control, LOOP_CTL_GET_FREE);
            if (number < 0) return false;
            path_ = "/dev/loop" + std::to_string(number);
            const int device = open(path_.c_str(), O_RDWR | O_CLOEXEC);
            if (device < 0) return false;
            if (ioctl(device, LOOP_SET_FD, file) == 0) {
                device_ = device;
                // It goes with the process, however that ends.
                loop_info64 how{};
                how.lo_flags = LO_FLAGS_AUTOCLEAR;
                return ioctl(device, LOOP_SET_STATUS64, &how) == 0;
            }
            close(device);
            if (errno != EBUSY) return false;
        }
        return false;
    }

    int device_ = -1;
    std::string path_, why_not_;
};

}  // namespace braid_test
