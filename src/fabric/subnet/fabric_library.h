// Subnet edge: the functions of libibnetdisc and libibmad that subnet_reader.cpp calls.
#pragma once

#include <infiniband/ibnetdisc.h>
#include <infiniband/mad.h>

#include "base/result.h"

namespace stoker::fabric {

// One row a function: its name, and the library that has it.
#define STOKER_FABRIC_CALLS(X)                 \
  X(ibnd_discover_fabric, "libibnetdisc.so.5") \
  X(ibnd_destroy_fabric, "libibnetdisc.so.5")  \
  X(mad_rpc_open_port, "libibmad.so.5")        \
  X(mad_rpc_close_port, "libibmad.so.5")       \
  X(mad_rpc_set_retries, "libibmad.so.5")      \
  X(mad_rpc_set_timeout, "libibmad.so.5")      \
  X(pma_query_via, "libibmad.so.5")

struct FabricLibrary {
#define STOKER_MEMBER(name, library) decltype(&::name) name = nullptr;
  STOKER_FABRIC_CALLS(STOKER_MEMBER)
#undef STOKER_MEMBER
};

// Loaded at the first call, and never unloaded. unavailable: they are not here; the error says which packages have them.
Result<const FabricLibrary*> fabric_library();

}  // namespace stoker::fabric
