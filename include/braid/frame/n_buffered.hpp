#pragma once
// Data in several copies, so that the renderer reads one copy while the simulation writes the next
// copy. The frame number selects the copy. Without frame numbers, swap() exchanges the copies, and
// you run swap() as a separate task.
//
//   braid::n_buffered<scene, 2> scenes(scheduler, "scene");
//   simulate.add([&](const braid::frame_context& f) { auto to = scenes.write(f.frame); … });
//   render.add([&](const braid::frame_context& f) { auto from = scenes.read(f.frame); … });
//
// The edges of your graph must order the reader and the writer. This class only checks that the
// edges do so.

#include "braid/base/export.hpp"
#include "braid/base/policy.hpp"
#include "braid/core/scheduler.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Records which tasks use one copy. relaxed throughout: a claim checks accesses and is no lock. A
/// stronger order here would synchronize tasks between which the program has no edge, and so hide
/// the missing edge from ThreadSanitizer.
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

    /// Claims the copy of `frame` for writing. Returns null, and reports it, if a task uses the
    /// copy.
    BRAID_API buffer_claim* write(std::uint64_t frame);
    /// Claims the copy of `frame` for reading. Returns null, and reports it, if a task writes the
    /// copy or if the copy holds the data of another frame.
    BRAID_API buffer_claim* read(std::uint64_t frame);
    /// Advances the frame that is read by one. Returns false, and reports it, if a task still
    /// writes the copy that would then be read, or if a task still uses the copy that would then be
    /// written.
    BRAID_API bool swap();
    /// Returns the frame that is read now. The frame after it is the one that is written now.
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

    /// An access to one copy, which lasts until this object is destroyed. The access is empty if it
    /// was refused. An empty access must not be dereferenced.
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

    /// Returns the access of the one writer of `frame` to the copy of that frame. If several bodies
    /// write in parallel, they must share this access. Returns an empty access if another task
    /// still reads or writes the copy, and reports the names of both tasks. In that case, an edge
    /// of the graph or a further copy is missing.
    access<T> write(std::uint64_t frame) {
        return {&copies_[frame % Copies], claims_.write(frame), detail::buffer_claim::writer};
    }
    /// Returns the access of a reader to the copy of `frame`. Any number of readers may have access
    /// at once. If a task still writes the copy, or if the copy holds the data of another frame,
    /// read() returns an empty access and reports it.
    access<const T> read(std::uint64_t frame) {
        return {&copies_[frame % Copies], claims_.read(frame), 1};
    }

    /// Exchanges the copies for write() and read() without frame numbers: after the swap, read()
    /// returns the data that was written before the swap. Run the swap as a task that comes after
    /// the writer and the readers, and let the next writer and readers come after the swap. If a
    /// writer or a reader still uses its copy, swap() returns false, reports the name of its task,
    /// and changes nothing.
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
