#pragma once
// Work that waits without a thread: coroutines, channels, timers, descriptors, files, messages. Not
// in braid.hpp, as <coroutine> and what belongs to it cost compile time.

#include "braid/async/await.hpp"
#include "braid/async/await_fd.hpp"
#include "braid/async/channel.hpp"
#include "braid/async/co.hpp"
#include "braid/async/fd_source.hpp"
#include "braid/async/file_reader.hpp"
#include "braid/async/message_source.hpp"
#include "braid/async/timer.hpp"
