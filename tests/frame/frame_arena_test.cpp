#include <braid/frame/command_buffer.hpp>
#include <braid/frame/fixed_step.hpp>
#include <braid/frame/frame_arena.hpp>
#include <braid/frame/frame_latch.hpp>
#include <braid/frame/n_buffered.hpp>
#include <braid/frame/rate_thread.hpp>
#include <braid/frame/spread_work.hpp>
