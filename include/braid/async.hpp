#pragma once
// This header includes all of braid/async/, for work that waits without a thread: coroutines,
// channels, timers, descriptors, files and messages. braid.hpp does not include it, because
// <coroutine> and what it needs cost compile time.

#include "braid/async/await.hpp"
#include "braid/async/await_fd.hpp"
#include "braid/async/channel.hpp"
#include "braid/async/co.hpp"
#include "braid/async/fd_source.hpp"
#include "braid/async/file_reader.hpp"
#include "braid/async/message_source.hpp"
#include "braid/async/timer.hpp"
