#pragma once
// This header includes all of braid/async/: coroutines, channels, timers, file descriptors, files
// and messages. Work that waits for these holds no thread. braid.hpp does not include this header,
// because <coroutine> and its dependencies cost compile time.

#include "braid/async/await.hpp"
#include "braid/async/await_fd.hpp"
#include "braid/async/channel.hpp"
#include "braid/async/co.hpp"
#include "braid/async/fd_source.hpp"
#include "braid/async/file_reader.hpp"
#include "braid/async/message_source.hpp"
#include "braid/async/timer.hpp"
