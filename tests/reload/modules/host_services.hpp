#pragma once
// What the host of the tests does for a module, which is linked to no library of Braid's.

namespace world {

struct host_services {
    virtual void keep(void (*function)(void*), void* data) = 0;
    virtual void wait() = 0;
    virtual void register_job(void (*function)(void*), const char* name) = 0;

protected:
    ~host_services() = default;
};

}  // namespace world
