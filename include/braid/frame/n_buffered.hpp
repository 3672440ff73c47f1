#pragma once
// An n_buffered object holds several copies of some data, so that the renderer reads one copy while
// the simulation writes the next copy. The frame number selects the copy. A program without frame
// numbers calls swap() in a separate task to exchange the copies.
//
//   braid::n_buffered<scene, 2> scenes(scheduler, "scene");
//   simulate.add([&](const braid::frame_context& f) { auto to = scenes.write(f.frame); … });
//   render.add([&](const braid::frame_context& f) { auto from = scenes.read(f.frame); … });
//
// The edges of your graph must order the reader and the writer of a copy. This class only checks
// their order.

#include "braid/base/export.hpp"
#include "braid/base/policy.hpp"
#include "braid/core/scheduler.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Records which tasks use one copy. relaxed, for all members: a claim checks accesses and is not a
/// lock. A stronger memory order would synchronize tasks that have no edge between them.
/// ThreadSanitizer could then not find the missing edge.
struct alignas(64) buffer_claim {
    static constexpr std::uint32_t writer = 1U << 31;
    atomic<std::uint32_t> users{0};  // number of readers, and the writer bit
    atomic<std::uint64_t> frame{0};  // the frame whose data the copy holds
    atomic<const char*> name{""};    // the task that claimed the copy last
};

class buffer_claims {
public:
    buffer_claims(runtime& rt, const char* name, buffer_claim* claims, unsigned copies)
        : rt_(rt), name_(name != nullptr ? name : "buffer"), claims_(claims), copies_(copies) {}

    /// Claims the copy of `frame` for writing. If a task uses the copy, write() calls the assertion
    /// handler and returns null.
    BRAID_API buffer_claim* write(std::uint64_t frame);
    /// Claims the copy of `frame` for reading. If a task writes the copy, or if the copy holds the
    /// data of another frame, read() calls the assertion handler and returns null.
    BRAID_API buffer_claim* read(std::uint64_t frame);
    /// Adds one to the number of the frame that is read. The swap is refused if a task still writes
    /// the copy that would then be read, or if a task still uses the copy that would then be
    /// written. In this case, swap() calls the assertion handler and returns false.
    BRAID_API bool swap();
    /// Returns the number of the frame that is read now. The frame with the next number is written
    /// now.
    std::uint64_t read_frame() const { return read_frame_.load(relaxed); }

private:
    buffer_claim& of(std::uint64_t frame) const { return claims_[frame % copies_]; }
    runtime& rt_;
    const char* name_;
    buffer_claim* claims_;
    unsigned copies_;
    atomic<std::uint64_t> read_frame_{0};
};

}  // namespace detail

/// Holds `Copies` copies of a T. Frame n uses copy n % Copies. A loop of depth d needs d + 1
/// copies. Any thread may use the buffer. An access costs two atomic read-modify-write operations
/// on a cache line that belongs to the copy.
template <class T, unsigned Copies = 2>
class n_buffered {
    static_assert(Copies >= 1);

public:
    /// `name` must outlive the buffer. Each copy is constructed from `arguments`.
    template <class... Arguments>
    explicit n_buffered(scheduler& s, const char* name = "buffer", Arguments&&... arguments)
        : n_buffered(std::make_index_sequence<Copies>(), s, name, arguments...) {}
    n_buffered(const n_buffered&) = delete;
    n_buffered& operator=(const n_buffered&) = delete;

    /// An access to one copy, which lasts until the access object is destroyed. The access is empty
    /// if it was refused. An empty access must not be dereferenced.
    template <class U>
    class access {
    public:
        access(U* data, detail::buffer_claim* claim, std::uint32_t share)
            : data_(claim != nullptr ? data : nullptr), claim_(claim), share_(share) {}
        access(access&& other) noexcept
            : data_(std::exchange(other.data_, nullptr)),
              claim_(std::exchange(other.claim_, nullptr)),
              share_(other.share_) {}
        access& operator=(access&&) = delete;
        ~access() {
            if (claim_ != nullptr) claim_->users.fetch_sub(share_, relaxed);
        }
        explicit operator bool() const { return data_ != nullptr; }
        U& operator*() const { return *data_; }
        U* operator->() const { return data_; }

    private:
        U* data_;
        detail::buffer_claim* claim_;
        std::uint32_t share_;
    };

    /// Begins the write access to the copy of `frame`. Only one task may have this access. If
    /// several bodies write in parallel, they must share it. If another task still reads or writes
    /// the copy, write() calls the assertion handler with the names of both tasks, and returns an
    /// empty access. In this case, an edge of the graph or a further copy is missing.
    access<T> write(std::uint64_t frame) {
        return {&copies_[frame % Copies], claims_.write(frame), detail::buffer_claim::writer};
    }
    /// Begins a read access to the copy of `frame`. Any number of readers may have access at once.
    /// If a task still writes the copy, or if the copy holds the data of another frame, read()
    /// calls the assertion handler and returns an empty access.
    access<const T> read(std::uint64_t frame) {
        return {&copies_[frame % Copies], claims_.read(frame), 1};
    }

    /// Exchanges the copies that write() and read() without frame numbers use. After the swap,
    /// read() returns the data that was written before the swap. Call swap() in a task that runs
    /// after the writer and the readers. The next writer and readers must run after that task. If a
    /// writer or a reader still uses its copy, swap() calls the assertion handler with the name of
    /// its task, changes nothing and returns false.
    bool swap() { return claims_.swap(); }
    access<T> write() { return write(claims_.read_frame() + 1); }
    access<const T> read() { return read(claims_.read_frame()); }

private:
    template <std::size_t... I, class... Arguments>
    n_buffered(std::index_sequence<I...>, scheduler& s, const char* name, Arguments&&... arguments)
        : copies_{(static_cast<void>(I), T(arguments...))...},
          claims_(s.internals(), name, used_.data(), Copies) {}

    std::array<T, Copies> copies_;
    std::array<detail::buffer_claim, Copies> used_;
    detail::buffer_claims claims_;
};

BRAID_NAMESPACE_END
