#pragma once
// Work for processors that are not cores. Not in braid.hpp: who has none pays nothing.

#include "braid/device/cpu.hpp"
#include "braid/device/fake.hpp"
#include "braid/device/local_store.hpp"
#include "braid/device/processor.hpp"
#include "braid/device/sequence.hpp"
