# Which Open MPI the component is built for, and its internal headers: those that it has installed (--with-devel-headers), or
# those of its source, configured here. Sets OMPI_HEADERS, OMPI_LIBRARIES, COLLTOPO_COMPONENT_DIR, and OMPI_MISSING to what is
# missing where the component cannot be built.
set(COLLTOPO_OPENMPI_SOURCE "" CACHE PATH "Source folder or archive of the Open MPI in use, where it has no development headers")
set(OMPI_MISSING "")

# The compiler wrapper knows where the development headers are; components need those, not only mpi.h.
execute_process(COMMAND ${MPI_C_COMPILER} --showme:incdirs OUTPUT_VARIABLE OMPI_INCLUDES ERROR_VARIABLE _
  OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE OMPI_STATUS)
execute_process(COMMAND ${MPI_C_COMPILER} --showme:libdirs OUTPUT_VARIABLE OMPI_LIBRARY_FOLDERS ERROR_VARIABLE _
  OUTPUT_STRIP_TRAILING_WHITESPACE)
if(NOT OMPI_STATUS EQUAL 0)
  set(OMPI_MISSING "${MPI_C_COMPILER} is not Open MPI's compiler wrapper; -DMPI_C_COMPILER= says which is")
  return()
endif()
separate_arguments(OMPI_INCLUDES)
separate_arguments(OMPI_LIBRARY_FOLDERS)
get_filename_component(MPI_BIN ${MPI_C_COMPILER} DIRECTORY)
find_program(OMPI_INFO NAMES ompi_info ompi_info.openmpi HINTS ${MPI_BIN})
if(NOT OMPI_INFO)
  set(OMPI_MISSING "there is no ompi_info beside ${MPI_C_COMPILER}, which says where components are")
  return()
endif()

if(COLLTOPO_OPENMPI_SOURCE)
  message(STATUS "configuring the headers of ${COLLTOPO_OPENMPI_SOURCE} (minutes, once)")
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/scripts/openmpi-headers ${COLLTOPO_OPENMPI_SOURCE} ${CMAKE_BINARY_DIR}/openmpi-headers
    ${OMPI_INFO} OUTPUT_VARIABLE OMPI_HEADERS OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE OMPI_STATUS)
  if(NOT OMPI_STATUS EQUAL 0)
    message(FATAL_ERROR "COLLTOPO_OPENMPI_SOURCE=${COLLTOPO_OPENMPI_SOURCE} gives no headers for this Open MPI; see above")
  endif()
  separate_arguments(OMPI_HEADERS)
  # mpi.h is the source's too, or two configurations would meet in one file.
else()
  find_path(OMPI_DEVEL_HEADERS ompi/mca/coll/coll.h PATHS ${OMPI_INCLUDES} PATH_SUFFIXES openmpi NO_DEFAULT_PATH)
  if(NOT OMPI_DEVEL_HEADERS)
    set(OMPI_MISSING "this Open MPI was installed without its development headers (no ompi/mca/coll/coll.h in ${OMPI_INCLUDES}); \
-DCOLLTOPO_OPENMPI_SOURCE= takes the source folder or archive of the same release")
    return()
  endif()
  set(OMPI_HEADERS ${OMPI_INCLUDES} ${OMPI_DEVEL_HEADERS})
endif()

# Since 5.0 Open MPI's own headers include those of PMIx, which may be a package apart.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(OMPI_PMIX QUIET pmix)
  list(APPEND OMPI_HEADERS ${OMPI_PMIX_INCLUDE_DIRS})
endif()
# Stand-ins for headers that installed development headers name and leave out; the last, so that a real one wins.
list(APPEND OMPI_HEADERS ${CMAKE_CURRENT_SOURCE_DIR}/fallback)

find_library(OMPI_OPAL_LIBRARY open-pal PATHS ${OMPI_LIBRARY_FOLDERS} NO_DEFAULT_PATH)
find_library(OMPI_RTE_LIBRARY open-rte PATHS ${OMPI_LIBRARY_FOLDERS} NO_DEFAULT_PATH)  # gone since 5.0
set(OMPI_LIBRARIES)
foreach(library OMPI_OPAL_LIBRARY OMPI_RTE_LIBRARY)
  if(${library})
    list(APPEND OMPI_LIBRARIES ${${library}})
  endif()
endforeach()

# Where this Open MPI looks for components.
if(NOT COLLTOPO_COMPONENT_DIR)
  execute_process(COMMAND ${OMPI_INFO} --parsable --path pkglibdir OUTPUT_VARIABLE OMPI_PATHS)
  string(REGEX MATCH "path:pkglibdir:([^\n]+)" _ "${OMPI_PATHS}")
  set(COLLTOPO_COMPONENT_DIR "${CMAKE_MATCH_1}" CACHE PATH "Where the component is installed")
endif()
