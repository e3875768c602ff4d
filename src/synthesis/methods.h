// The rows of the table of routing methods (table.cpp), one function each in the file that implements it.
#pragma once

#include "colltopo/synthesis.h"

namespace colltopo::synthesis {

RoutingMethod mcf_method();
RoutingMethod mcf_path_method();
RoutingMethod sssp_method();
RoutingMethod ewsp_method();
RoutingMethod dor_method();
RoutingMethod fptas_method();
RoutingMethod mcf_link_method();
RoutingMethod mcf_master_method();
RoutingMethod ilp_method();

}  // namespace colltopo::synthesis
