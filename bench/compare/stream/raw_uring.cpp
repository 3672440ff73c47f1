#include "stream/stream.hpp"

#include <liburing.h>
#include <array>
#include <string>
#include <system_error>

namespace bench::stream {
namespace {

class raw_loop {
public:
    explicit raw_loop(std::shared_ptr<const pattern_file> file) : file_(std::move(file)) {
        const int error = io_uring_queue_init(in_flight, &ring_, 0);
        if (error < 0) {
            throw not_here("the system refuses io_uring: " +
                           std::generic_category().message(-error));
        }
    }
    ~raw_loop() { io_uring_queue_exit(&ring_); }
    raw_loop(const raw_loop&) = delete;
    raw_loop& operator=(const raw_loop&) = delete;

    pass run() {
        const pass_clock clock;
        std::size_t asked = 0, ended = 0;
        while (asked < in_flight) ask(asked++);
        while (ended < reads) {
            if (io_uring_submit_and_wait(&ring_, 1) < 0) throw wrong_answer("nothing is submitted");
            io_uring_cqe* entry = nullptr;
            while (io_uring_peek_cqe(&ring_, &entry) == 0) {
                const std::size_t place = entry->user_data;
                check_equal(entry->res, read_bytes, "bytes read");
                io_uring_cqe_seen(&ring_, entry);
                check_pages(to_[place], from_[place]);
                ++ended;
                if (asked < reads) ask(asked++, place);
            }
        }
        const pass taken = clock.so_far();
        for (std::size_t i = 0; i < in_flight; ++i) check_all(to_[i], from_[i]);
        return taken;
    }

private:
    void ask(std::size_t number) { ask(number, number); }
    void ask(std::size_t number, std::size_t place) {
        from_[place] = place_of(number, read_bytes);
        io_uring_sqe* const entry = io_uring_get_sqe(&ring_);
        io_uring_prep_read(entry, file_->descriptor(), to_[place].data(), read_bytes, from_[place]);
        entry->user_data = place;
    }

    std::shared_ptr<const pattern_file> file_;
    buffers to_{in_flight, read_bytes};
    std::array<std::uint64_t, in_flight> from_{};
    io_uring ring_{};
};

}  // namespace

std::function<pass()> raw_uring(std::shared_ptr<const pattern_file> file) {
    return [loop = std::make_shared<raw_loop>(std::move(file))] { return loop->run(); };
}

}  // namespace bench::stream
