# SPDX-License-Identifier: BSD-3-Clause
#
# Finds the core of prometheus-cpp. Its own CMake package asks for a web server
# and libcurl, which the core does not need. Defines
# PrometheusCore::PrometheusCore.

include(${CMAKE_CURRENT_LIST_DIR}/tertulia_find_library.cmake)
tertulia_find_library(PrometheusCore prometheus/registry.h prometheus-cpp-core)
