#pragma once
// A browser for the tests: requests and web sockets over plain sockets. Every wait has a deadline.

#include "scale.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace web {

/// Throws when braid_test::hang_limit passes without a byte.
class connection {
public:
    /// `receive_bytes`: how much the system takes for this side while nobody reads; 0: as it likes.
    explicit connection(std::uint16_t port, int receive_bytes = 0)
        : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        const timeval deadline{braid_test::hang_limit.count(), 0};
        const int at_once = 1;
        setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once);
        setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof deadline);
        setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof deadline);
        if (receive_bytes != 0) {
            setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
        }
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(port);
        to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0) {
            ::close(std::exchange(socket_, -1));
            throw std::runtime_error("no connection");
        }
    }
    connection(connection&& from) noexcept
        : socket_(std::exchange(from.socket_, -1)), unread_(std::move(from.unread_)) {}
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;
    ~connection() {
        if (socket_ >= 0) ::close(socket_);
    }

    void send(std::string_view text) {
        while (!text.empty()) {
            const ssize_t sent = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
            if (sent <= 0) throw std::runtime_error("nothing can be sent");
            text.remove_prefix(static_cast<std::size_t>(sent));
        }
    }

    /// False: the other side has closed.
    bool receive_more() {
        char some[65536];
        const ssize_t got = ::recv(socket_, some, sizeof some, 0);
        if (got < 0 && errno == EAGAIN) throw std::runtime_error("nothing came in time");
        if (got <= 0) return false;
        unread_.append(some, static_cast<std::size_t>(got));
        return true;
    }
    std::string receive(std::size_t bytes) {
        while (unread_.size() < bytes) {
            if (!receive_more()) throw std::runtime_error("the connection ended");
        }
        std::string first = unread_.substr(0, bytes);
        unread_.erase(0, bytes);
        return first;
    }
    std::string receive_head() {
        std::size_t end;
        while ((end = unread_.find("\r\n\r\n")) == unread_.npos) {
            if (!receive_more()) throw std::runtime_error("the connection ended");
        }
        return receive(end + 4);
    }
    std::string receive_all() {
        while (receive_more()) {
        }
        return std::exchange(unread_, {});
    }

private:
    int socket_;
    std::string unread_;
};

struct answer {
    int status = 0;
    std::string head, body;
};

inline int status_of(const std::string& head) {
    return head.size() > 12 ? std::stoi(head.substr(9, 3)) : 0;
}

/// One request as it stands, and all that comes.
inline answer ask(std::uint16_t port, std::string_view request) {
    connection to(port);
    to.send(request);
    answer a;
    a.head = to.receive_head();
    a.body = to.receive_all();
    a.status = status_of(a.head);
    return a;
}

inline std::string own_host(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

inline answer get(std::uint16_t port, const std::string& path, const std::string& lines = "") {
    return ask(port,
               "GET " + path + " HTTP/1.1\r\nHost: " + own_host(port) + "\r\n" + lines + "\r\n");
}

struct message {
    enum kind { text = 1, binary = 2, close = 8, ping = 9, pong = 10 };
    int what = 0;
    std::string bytes;
    int close_code() const {
        if (bytes.size() < 2) return 1005;
        return static_cast<unsigned char>(bytes[0]) << 8 | static_cast<unsigned char>(bytes[1]);
    }
};

/// A web socket; what it sends is masked with zeros.
class socket {
public:
    explicit socket(std::uint16_t port, const std::string& lines = "", int receive_bytes = 0,
                    const std::string& host = "")
        : over_(port, receive_bytes) {
        over_.send("GET /stream HTTP/1.1\r\nHost: " + (host.empty() ? own_host(port) : host) +
                   "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                   lines + "\r\n");
        head_ = over_.receive_head();
    }

    int status() const { return status_of(head_); }
    const std::string& head() const { return head_; }

    void send(std::string_view bytes, int what = message::text) {
        std::string frame(1, static_cast<char>(0x80 | what));
        if (bytes.size() < 126) {
            frame += static_cast<char>(0x80 | bytes.size());
        } else {
            frame += static_cast<char>(0x80 | 126);
            frame += static_cast<char>(bytes.size() >> 8);
            frame += static_cast<char>(bytes.size() & 0xff);
        }
        frame.append(4, '\0');
        frame += bytes;
        over_.send(frame);
    }

    message receive() {
        const std::string start = over_.receive(2);
        message m;
        m.what = start[0] & 15;
        std::uint64_t size = static_cast<unsigned char>(start[1]) & 127;
        if (size >= 126) {
            const std::string more = over_.receive(size == 126 ? 2 : 8);
            size = 0;
            for (const char byte : more) size = size << 8 | static_cast<unsigned char>(byte);
        }
        m.bytes = over_.receive(size);
        return m;
    }

    /// The next one of that kind; others are passed over. Throws at the end.
    message receive(int what) {
        for (;;) {
            message m = receive();
            if (m.what == what) return m;
            if (m.what == message::close) throw std::runtime_error("closed: " + m.bytes.substr(2));
        }
    }

private:
    connection over_;
    std::string head_;
};

/// The number after `"name": ` in a JSON text.
inline std::optional<double> number_in(const std::string& text, const std::string& name) {
    const std::size_t at = text.find("\"" + name + "\": ");
    if (at == text.npos) return {};
    return std::stod(text.substr(at + name.size() + 4));
}

}  // namespace web
