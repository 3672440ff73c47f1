// Requests go to io_uring (Axboe 2019): what the system's cache has is done when the call returns;
// what ends later makes the ring's descriptor readable, which the source thread watches.
#include "async/files/back_end.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>

#if BRAID_HAS_URING
#include <liburing.h>
#endif

BRAID_NAMESPACE_BEGIN
namespace detail {

#if BRAID_HAS_URING
namespace {

class uring_back_end final : public file_back_end_base {
public:
    /// Below 0: minus the system's error.
    int open(unsigned in_flight) {
        const int error = io_uring_queue_init(in_flight, &ring_, 0);
        knows_buffers_ = error == 0 && io_uring_register_buffers_sparse(&ring_, most_known) == 0;
        return error;
    }
    void end(runtime& rt) override {
        io_uring_queue_exit(&ring_);
        free(rt);
    }
    void free(runtime& rt) {
        this->~uring_back_end();
        core::memory(rt).release(this, sizeof *this, alignof(uring_back_end), memory_tag::file);
    }
    const char* name() const override { return "uring"; }
    /// A device takes what it is given in its order: what is urgent waits for all of it.
    unsigned most_of_low(unsigned flights) const override { return std::max(flights / 4, 1U); }
    int descriptor() const override { return ring_.ring_fd; }

    void start(std::span<flight* const> all) override {
        for (flight* const f : all) {
            // There is one for each flight.
            io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
            prepare(*entry, *f);
            io_uring_sqe_set_data(entry, f);
        }
        submit();
    }

    int get_to_know(std::span<std::byte> buffer) override {
        if (!knows_buffers_) return -1;
        const unsigned number = known_.fetch_add(1, relaxed);  // each its own
        if (number >= most_known) return -1;
        // Refused: there is a limit to what a process may pin.
        const iovec memory{buffer.data(), buffer.size()};
        const __u64 tag = 0;
        const int done = io_uring_register_buffers_update_tag(&ring_, number, &memory, &tag, 1);
        return done == 1 ? static_cast<int>(number) : -1;
    }

    unsigned reap(std::span<flight*> to) override {
        if (left_ != 0) submit();
        unsigned count = 0;
        io_uring_cqe* entry = nullptr;
        while (count < to.size() && io_uring_peek_cqe(&ring_, &entry) == 0) {
            auto* const f = static_cast<flight*>(io_uring_cqe_get_data(entry));
            f->got = entry->res;
            to[count++] = f;
            --flying_;
            io_uring_cqe_seen(&ring_, entry);
        }
        return count;
    }

private:
    void prepare(io_uring_sqe& entry, const flight& f) {
        platform::file_piece pieces[platform::most_pieces];
        const unsigned count = f.pieces(pieces);
        const int known_as = f.first->known_as;
        if (count == 1 && known_as >= 0 && f.first->next == nullptr) {
            io_uring_prep_read_fixed(&entry, f.descriptor, pieces[0].data,
                                     static_cast<unsigned>(pieces[0].bytes), f.offset, known_as);
            return;
        }
        iovec* const to = vectors_[f.number];
        for (unsigned i = 0; i < count; ++i) to[i] = {pieces[i].data, pieces[i].bytes};
        io_uring_prep_readv(&entry, f.descriptor, to, count, f.offset);
    }
    /// What the system does not take now (EAGAIN, EBUSY) it is given again after the next that
    /// ends, and at once where nothing is on its way that could end.
    void submit() {
        int taken = 0;
        do {
            taken = io_uring_submit(&ring_);
            if (taken > 0) flying_ += static_cast<unsigned>(taken);
        } while (taken == -EINTR || (taken < 0 && flying_ == 0));
        left_ = io_uring_sq_ready(&ring_);
    }

    static constexpr unsigned most_known = file_reader_options::most_in_flight;

    io_uring ring_{};
    bool knows_buffers_ = false;
    atomic<unsigned> known_{0};
    unsigned left_ = 0;    // that the system has not taken
    unsigned flying_ = 0;  // that it has
    iovec vectors_[file_reader_options::most_in_flight][platform::most_pieces];
};

const char* reason(int error) {
    switch (error) {
        case EPERM:
            return "the system forbids it (kernel.io_uring_disabled, or a container's filter)";
        case ENOSYS:
            return "the system has none, or a container's filter hides it";
        case ENOMEM:
            return "the system has no memory that may be locked for it";
        case EMFILE:
        case ENFILE:
            return "the system has no descriptor left";
        default:
            return "the system refused it";
    }
}

}  // namespace

file_back_end_base* make_uring_back_end(runtime& rt, unsigned in_flight, char* why,
                                        std::size_t room) {
    void* const memory = core::memory(rt).allocate(sizeof(uring_back_end), alignof(uring_back_end),
                                                   memory_tag::file);
    if (memory == nullptr) {
        std::snprintf(why, room, "there is no memory for it");
        return nullptr;
    }
    auto* const made = ::new (memory) uring_back_end;
    const int error = -made->open(in_flight);
    if (error <= 0) return made;
    std::snprintf(why, room, "%s", reason(error));
    made->free(rt);
    return nullptr;
}

#else

file_back_end_base* make_uring_back_end(runtime&, unsigned, char* why, std::size_t room) {
    std::snprintf(why, room, "the library was built without liburing");
    return nullptr;
}

#endif

}  // namespace detail
BRAID_NAMESPACE_END
