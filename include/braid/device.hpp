#pragma once
// This header includes the parts that run work on processors other than the CPU cores. braid.hpp
// does not include it, so that programs without such processors pay nothing.

#include "braid/device/cpu.hpp"
#include "braid/device/fake.hpp"
#include "braid/device/local_store.hpp"
#include "braid/device/processor.hpp"
#include "braid/device/sequence.hpp"
