#pragma once
// A live view shows a running program in a browser on the same machine. The live view is in the
// library braid::stream.
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

    std::uint16_t port = 0;  // 0 means that the operating system chooses a port
    /// The most bytes that may wait for one browser. Any number is allowed. Records that exceed the
    /// limit are dropped, and the browser shows the loss.
    std::size_t queue_bytes = std::size_t{16} << 20;
    std::size_t most_clients = 4;  // any number; 0 allows no client
    /// How long a client may take to send the token. The range of `token_within` and of `linger` is
    /// 0..longest_time. A value outside the range is clamped to the range.
    std::chrono::milliseconds token_within{5000};
    /// The longest time for which stop() waits for clients to receive the remaining bytes.
    std::chrono::milliseconds linger{1000};
};

/// A server inside the program, with one thread. The server listens on 127.0.0.1 only. Each
/// live_view has its own token. A client without the token receives no part of the capture. A
/// live_view must outlive the recording.
class live_view final : public capture_sink {
public:
    /// `page` is the HTML page that a browser loads first. It must stay valid as long as the
    /// live_view exists.
    explicit live_view(std::string_view page, const live_options& options = {});
    /// Calls stop().
    ~live_view();
    live_view(const live_view&) = delete;
    live_view& operator=(const live_view&) = delete;

    /// Starts the server. start() must be called only once. The status describes a failure, such as
    /// a port that another program uses.
    status start();
    /// Sends the remaining bytes, closes all connections and ends the thread.
    void stop();

    /// Returns the port of the server, or 0 before start().
    std::uint16_t port() const;
    /// Returns the URL with the token, or an empty string before start().
    std::string url() const;

    /// Copies the bytes and never waits for a client. The recorder calls take() (see capture_sink).
    /// A capture may begin before start(), and one capture may follow another. Each capture begins
    /// with its header. When a header arrives, the connections that still show the previous capture
    /// are closed.
    bool take(std::span<const std::byte> chunks) override;

    struct counts {
        std::size_t clients = 0;
        /// The bytes that take() received, the bytes sent to all clients together, and the bytes
        /// dropped.
        std::uint64_t taken = 0, sent = 0, lost = 0;
    };
    /// Any thread may call statistics().
    counts statistics() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace profile
BRAID_NAMESPACE_END
