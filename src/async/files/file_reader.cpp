#include "braid/async/file_reader.hpp"

#include "async/files/reader_state.hpp"

#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN

namespace core = detail::core;

namespace {

file_reader_options within_limits(detail::runtime& rt, file_reader_options o) {
    core::limits(rt, "file_reader_options")
        .clamp(o.in_flight, 1, file_reader_options::most_in_flight, "in_flight");
    core::limits(rt, "file_faults")
        .clamp(o.faults.delay.value, std::int64_t{0}, file_faults::most_delay.value, "delay");
    if (o.name == nullptr) o.name = "files";
    return o;
}

/// In a child of fork() neither the ring nor a thread is here.
bool serves(const detail::reader_state* s) { return s != nullptr && !s->in_child(); }

void destroy(detail::runtime& rt, detail::reader_state* s) {
    s->end_back_end();
    s->~reader_state();
    core::memory(rt).release(s, sizeof *s, alignof(detail::reader_state), memory_tag::file);
}

}  // namespace

file_reader::file_reader(scheduler& s, const file_reader_options& options) : scheduler_(s) {
    detail::runtime& rt = s.internals();
    core::point(rt);
    void* const room = core::memory(rt).allocate(sizeof(detail::reader_state),
                                                 alignof(detail::reader_state), memory_tag::file);
    if (room == nullptr) return;
    state_ = ::new (room) detail::reader_state(s, *this, within_limits(rt, options));
    if (!state_->make_back_end()) end();
}

file_reader::~file_reader() {
    if (!serves(state_)) return;
    core::point(scheduler_.internals());
    end();
}

void file_reader::end() {
    state_->come_to_rest();
    destroy(scheduler_.internals(), std::exchange(state_, nullptr));
}

void file_reader::begin_frame() {
    if (serves(state_)) state_->begin_frame();
}

unsigned file_reader::set_priority(task_id of, priority_level level, std::uint64_t frame) {
    return serves(state_) ? state_->set_priority(of, {level, frame}) : 0;
}

unsigned file_reader::cancel(task_id of) { return serves(state_) ? state_->cancel(of) : 0; }

file_reader_statistics file_reader::statistics() const {
    return serves(state_) ? state_->statistics() : file_reader_statistics{};
}

namespace detail {

void reader_state::abandon() { owner_.end(); }

// ---- for coroutines ----------------------------------------------------------------------------

bool file_read::begin(task_context& context) {
    return request_.reader != nullptr && request_.reader->begin(request_, context);
}

read_result file_read::end() {
    return request_.id ? request_.reader->end(request_) : read_result{};
}

read_buffer::read_buffer(file_reader& io, const file& from, std::size_t bytes)
    : of_(io.internals()), bytes_(bytes) {
    if (!serves(of_) || bytes == 0) return;
    const buffer_shelf::buffer b = of_->take_buffer(bytes, from);
    data_ = b.data;
    known_as_ = b.known_as;
}

read_buffer::~read_buffer() {
    if (data_ != nullptr) of_->buffers().give(data_, bytes_, known_as_);
}

}  // namespace detail
BRAID_NAMESPACE_END
