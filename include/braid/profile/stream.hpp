#pragma once
// Shows in a browser on this machine what a program does, while it runs. This is in the library
// braid::stream.
//
//   braid::profile::live_view view(braid::profile::viewer_page());
//   if (const braid::status went = view.start(); !went) …
//   std::puts(view.url().c_str());
//   recorder.start(view);
//   …
//   recorder.stop();

#include "braid/profile/recorder.hpp"

#include <chrono>

BRAID_NAMESPACE_BEGIN
namespace profile {

struct live_options {
    static constexpr std::chrono::milliseconds longest_time{24 * 3'600'000};

    std::uint16_t port = 0;  // 0 means that the system chooses
    /// How many bytes may wait for one browser at most. Any number is allowed. What does not fit is
    /// left out, and the browser shows that.
    std::size_t queue_bytes = std::size_t{16} << 20;
    std::size_t most_clients = 4;  // any number; with 0 nobody may watch
    /// How long a client may take to show the token. The range of this and of `linger` is
    /// 0..longest_time. A value outside is clamped.
    std::chrono::milliseconds token_within{5000};
    /// How long stop() waits for clients to take what is left, at most.
    std::chrono::milliseconds linger{1000};
};

/// A server inside the program, with one thread. It listens on 127.0.0.1 only. It shows nothing of
/// the capture to a client without the token, and each live_view has a token of its own. A
/// live_view must outlive the recording.
class live_view final : public capture_sink {
public:
    /// `page` is what a browser gets first. It must stay valid as long as the live_view.
    explicit live_view(std::string_view page, const live_options& options = {});
    /// Calls stop().
    ~live_view();
    live_view(const live_view&) = delete;
    live_view& operator=(const live_view&) = delete;

    /// Starts the server. Call it once. The status says what is wrong, such as a port that another
    /// program has.
    status start();
    /// Sends what is left, closes all connections and ends the thread.
    void stop();

    /// Returns 0 before start().
    std::uint16_t port() const;
    /// Returns the address with the token, or an empty string before start().
    std::string url() const;

    /// Copies the bytes and never waits for a client. The recorder calls it (see capture_sink). A
    /// capture may begin before start(), and another capture may follow the first. Each capture
    /// begins with its header, and ends the connections that the previous one still has.
    bool take(std::span<const std::byte> chunks) override;

    struct counts {
        std::size_t clients = 0;
        /// Bytes: received by take(), sent to all clients together, and left out.
        std::uint64_t taken = 0, sent = 0, lost = 0;
    };
    /// Any thread may call it.
    counts statistics() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace profile
BRAID_NAMESPACE_END
