#pragma once
// A pipe of which neither end blocks: what is put into both[1] comes out of both[0]. On Windows a
// pair of sockets, since nothing else can be waited for there.

#include <gtest/gtest.h>

#include <array>
#include <utility>

#if defined(_WIN32)
#if !defined(NOMINMAX)
#define NOMINMAX
#endif
#include <winsock2.h>
#else
#include <fcntl.h>
#include <unistd.h>
#endif

namespace braid_test {

#if defined(_WIN32)

/// Two sockets that are connected with each other.
inline void open_pair(int (&both)[2]) {
    WSADATA about{};
    ASSERT_EQ(WSAStartup(MAKEWORD(2, 2), &about), 0);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const address = reinterpret_cast<sockaddr*>(&own);
    int size = sizeof own;
    const SOCKET listener = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    const SOCKET writer = socket(AF_INET, SOCK_STREAM, IPPROTO_TCP);
    // A fixed size of the buffers: they would grow after fill() has found them full.
    const int room = 8192;
    for (const SOCKET one : {listener, writer}) {
        for (const int which : {SO_SNDBUF, SO_RCVBUF}) {
            setsockopt(one, SOL_SOCKET, which, reinterpret_cast<const char*>(&room), sizeof room);
        }
    }
    ASSERT_EQ(bind(listener, address, size), 0);
    ASSERT_EQ(getsockname(listener, address, &size), 0);
    ASSERT_EQ(listen(listener, 1), 0);
    ASSERT_EQ(connect(writer, address, size), 0);
    const SOCKET reader = accept(listener, nullptr, nullptr);
    ASSERT_NE(reader, INVALID_SOCKET);
    closesocket(listener);
    u_long no_wait = 1;
    ASSERT_EQ(ioctlsocket(reader, FIONBIO, &no_wait), 0);
    ASSERT_EQ(ioctlsocket(writer, FIONBIO, &no_wait), 0);
    both[0] = static_cast<int>(reader);
    both[1] = static_cast<int>(writer);
}
inline void close_one(int end) { closesocket(static_cast<SOCKET>(end)); }
inline long write_some(int end, const char* bytes, std::size_t size) {
    return send(static_cast<SOCKET>(end), bytes, static_cast<int>(size), 0);
}
inline long read_some(int end, char* bytes, std::size_t size) {
    return recv(static_cast<SOCKET>(end), bytes, static_cast<int>(size), 0);
}

#else

inline void open_pair(int (&both)[2]) { ASSERT_EQ(pipe2(both, O_NONBLOCK | O_CLOEXEC), 0); }
inline void close_one(int end) { close(end); }
inline long write_some(int end, const char* bytes, std::size_t size) {
    return write(end, bytes, size);
}
inline long read_some(int end, char* bytes, std::size_t size) { return read(end, bytes, size); }

#endif

struct pipe_ends {
    pipe_ends() { open_pair(both); }
    ~pipe_ends() {
        close_end(0);
        close_end(1);
    }
    pipe_ends(const pipe_ends&) = delete;
    pipe_ends& operator=(const pipe_ends&) = delete;

    void put() const { EXPECT_EQ(write_some(both[1], "x", 1), 1); }
    /// Returns false if there is nothing.
    bool take() const {
        char c = 0;
        return read_some(both[0], &c, 1) == 1;
    }
    void fill() const {
        const std::array<char, 4096> page{};
        while (write_some(both[1], page.data(), page.size()) > 0) {
        }
    }
    void drain() const {
        std::array<char, 4096> page{};
        while (read_some(both[0], page.data(), page.size()) > 0) {
        }
    }
    void close_end(int which) {
        const int end = std::exchange(both[which], -1);
        if (end != -1) close_one(end);
    }
    int both[2] = {-1, -1};
};

}  // namespace braid_test
